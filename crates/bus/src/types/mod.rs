//! Shared types of the bus: inputs, effects, and the data in them.
//!
//! These types do not have behavior of their own. All other modules may use them. They use only the
//! policy rules, which are part of the configuration.

mod config;
mod container;
mod container_refusal;
mod delivery_description;
mod effects;
mod end;
mod error;
mod foreign_error;
mod forward;
mod input;
mod lane;
mod limits;
mod log_event;
mod mediator_kind;
mod peer;
mod refusal;
mod refusal_text;
mod replacement;
mod services;
mod shortage;
mod start;
mod time;
mod trace;

pub use config::{
    BodyValidation, BusIdentity, Configuration, FlightRecorder, LaneLimits, ServiceHelper,
    TraceLimits,
};
pub use container::{ContainerDescription, ContainerDescriptors, ContainerId, ContainerSocket};
pub use container_refusal::ContainerRefusal;
pub use delivery_description::{DeliveryDescription, ProcessDescription, SenderDescription};
pub use effects::{Body, Delivery, Effect, Effects, Fds, HeldFds, Span, Urgency};
pub use end::{DisconnectReason, End};
pub(crate) use error::{ErrorKind, FittedText};
pub use foreign_error::ForeignError;
pub(crate) use forward::Forward;
pub use input::{Input, Undelivered};
pub use lane::{LaneCounts, LaneEnds, LaneId, LaneRefusal, LaneRequest, MessageProgress};
pub use limits::{BusLimits, LimitHit, LimitName};
pub use log_event::{LogEvent, LoggedPermission, WithheldBy};
pub use mediator_kind::MediatorKind;
pub use peer::{
    Amount, CallId, ConnectionCredentials, DescriptorPassing, Details, NAMES_MAX, PeerId,
    PeerSnapshot, PidFd, Process,
};
pub use refusal::{
    AccessDenial, ConnectionFact, DeniedDelivery, FullQueue, HiddenRecipient, NameMethod,
    Objection, OwningDeniedBy, QueueRoom, RefusalReason,
};
pub use replacement::Replacement;
pub use services::{ActivationMethod, Service, ServiceManager, Services};
pub use shortage::KernelShortage;
pub use start::{HelperFailure, StartFailure, StartId, StartProblem};
pub use time::Time;
pub use trace::{
    MatchingTime, RING_BYTES_MAX, RING_BYTES_MIN, RingContents, RingFacts, Stopwatch,
    TraceAudience, TraceRequest, Traced, TracedMessage, TracedOwner,
};
