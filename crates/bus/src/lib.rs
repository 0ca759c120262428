//! A message bus as a state machine: what comes in, what goes out, and nothing between that is
//! not memory.
//!
//! [`Bus::handle`] takes the time and one [`Input`], and appends [`Effect`]s. It opens nothing,
//! reads nothing, asks no clock and knows no file descriptor, only how many there are; so a test is
//! a list of inputs and what came of them, and a whole day of a desktop can be replayed in seconds.
//! The crate is `no_std` and has no unsafe code.
//!
//! ```text
//!   sockets ──▶ messages ──▶ Bus::handle ──▶ effects ──▶ queues ──▶ sockets
//!                              │
//!                route: to whom? names, match rules, replies, monitors
//!                activation: whom to start, and what waits for that
//!                driver: the bus's own object, org.freedesktop.DBus
//! ```
//!
//! ```
//! use diligence_bus::{Bus, Configuration, Credentials, Effects, Identity, Input, PeerId, Time};
//! use wire::guid::Guid;
//!
//! let identity = Identity {
//!     id: Guid::from_bytes([7; 16]),
//!     machine_id: None,
//!     pid: 1,
//!     uid: 0,
//!     security_label: None,
//! };
//! let mut bus = Bus::new(identity, Configuration::default(), 0);
//! let mut effects = Effects::new();
//! let peer = PeerId::new(0, 0);
//! let credentials = Credentials { uid: Some(1000), ..Credentials::default() };
//! bus.handle(Time::default(), Input::Connected { peer, credentials }, &mut effects);
//! // The connection has 30 seconds to say Hello.
//! assert_eq!(bus.next_deadline(), Some(Time::from_nanos(30_000_000_000)));
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod activation;
mod bus;
mod config;
mod driver;
mod effects;
mod end;
mod error;
mod hash;
mod history;
mod input;
mod matches;
pub mod mediation;
mod members;
mod names;
mod observers;
mod own;
mod peers;
pub mod policy;
mod reached;
mod reloads;
mod replies;
mod route;
mod shares;
mod statistics;
mod time;
mod traces;
mod undelivered;
mod unserved;

pub use activation::{
    HelperFailure, Road, Service, ServiceManager, Services, StartFailure, StartId,
};
pub use bus::Bus;
pub use config::{
    BodyValidation, Configuration, FlightRecorder, Identity, Limits, ServiceHelper, TraceLimits,
};
pub use driver::{RING_BYTES_MAX, RING_BYTES_MIN, RingContents, RingWish, introspection_xml};
pub use effects::{
    Barrier, Body, Cause, Delivery, DisconnectReason, Effect, Effects, Event, Fds, HeldFds, Span,
    Urgency,
};
pub use end::End;
pub use hash::{HashKey, HashSeed};
pub use history::{Culprit, Incident, NAMES_MAX, Trouble};
pub use input::{
    Amount, Asker, Credentials, Details, FdPassing, Input, PeerId, PidFd, Process, Ring,
};
pub use members::{MemberCounts, MemberUse};
pub use policy::{Policy, Verdict};
pub use reached::{LimitName, Reached};
pub use statistics::{Now, Totals};
pub use time::Time;
pub use traces::{Audience, Matching, Stopwatch, Traced, TracedMessage, TracedOwner};
pub use undelivered::{Shortage, Undelivered};
pub use unserved::{Fate, Fault, Obstacle, Unserved};
