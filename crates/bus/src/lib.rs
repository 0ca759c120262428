//! A message bus as a state machine: it takes inputs, keeps its state in memory, and returns
//! effects.
//!
//! [`Bus::handle`] takes the time and one [`Input`], and appends [`Effect`]s. It does not do I/O or
//! read a clock. It knows how many file descriptors a message has, but not their numbers. So a test
//! is a list of inputs and expected effects, and a whole day of a desktop can be replayed in
//! seconds. The crate is `no_std` and does not use unsafe code.
//!
//! ```text
//!   sockets ──▶ messages ──▶ Bus::handle ──▶ effects ──▶ queues ──▶ sockets
//!                              │
//!                routing: recipients by names, match rules, pending calls and monitors
//!                activation: services that are being started, and messages that wait for them
//!                driver: the object of the bus, org.freedesktop.DBus
//! ```
//!
//! ```
//! use bus::{Bus, BusIdentity, Configuration, ConnectionCredentials, Effects, Input, PeerId, Time};
//! use wire::guid::Guid;
//!
//! let identity = BusIdentity {
//!     id: Guid::from_bytes([7; 16]),
//!     machine_id: None,
//!     pid: 1,
//!     uid: 0,
//!     security_label: None,
//! };
//! let mut bus = Bus::new(identity, Configuration::default(), 0);
//! let mut effects = Effects::new();
//! let peer = PeerId::new(0, 0);
//! let credentials = ConnectionCredentials { uid: Some(1000), ..Default::default() };
//! bus.handle(Time::default(), Input::Connected { peer, credentials, container: None }, &mut effects);
//! // The connection must call Hello within 30 seconds.
//! assert_eq!(bus.next_deadline(), Some(Time::from_nanos(30_000_000_000)));
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

// ARCHITECTURE.md lists the layers of these modules. Each module uses only the layers below its own.
mod access;
mod accounting;
mod activation;
mod bus;
mod calls;
mod containers;
mod driver;
mod hash;
mod lanes;
mod matching;
pub mod policy;
mod registry;
mod reloads;
mod replacements;
mod routing;
mod saved_state;
mod tracing;
mod types;
mod well_known;

pub use access::mediation;
pub use accounting::{
    Gauges, Incident, IncidentKind, IncidentReason, MemberCounts, MemberUse, Totals,
};
pub use bus::{Bus, BusWithoutRules, SavedBus};
pub use driver::introspection_xml;
pub use hash::{HashKey, HashSeed};
pub use matching::RuleMatching;
pub use policy::{Policy, PolicyVerdict};
pub use types::{
    AccessDenial, ActivationMethod, Amount, Body, BodyValidation, BusIdentity, BusLimits, CallId,
    Configuration, ConnectionCredentials, ConnectionFact, ContainerDescription,
    ContainerDescriptors, ContainerId, ContainerRefusal, ContainerSocket, Delivery,
    DeliveryDescription, DeniedDelivery, DescriptorPassing, Details, DisconnectReason, Effect,
    Effects, End, Fds, FlightRecorder, ForeignError, FullQueue, HeldFds, HelperFailure,
    HiddenRecipient, Input, KernelShortage, LaneCounts, LaneEnds, LaneId, LaneLimits, LaneRefusal,
    LaneRequest, LimitHit, LimitName, LogEvent, LoggedPermission, MatchingTime, MessageProgress,
    NAMES_MAX, NameMethod, Objection, OwningDeniedBy, PeerId, PeerSnapshot, PidFd, Process,
    ProcessDescription, QueueRoom, RING_BYTES_MAX, RING_BYTES_MIN, RefusalReason, Replacement,
    RingContents, RingFacts, SenderDescription, Service, ServiceHelper, ServiceManager, Services,
    Span, StartFailure, StartId, StartProblem, Stopwatch, Time, TraceAudience, TraceLimits,
    TraceRequest, Traced, TracedMessage, TracedOwner, Undelivered, Urgency, WithheldBy,
};
