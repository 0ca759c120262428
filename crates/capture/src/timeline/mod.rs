//! Where time went: who waited for whom, and how services came up.
//!
//! - [`blocked`]: callers that did nothing else until their answer came.
//! - [`slowest`]: the calls that took longest.
//! - [`Way`] and [`shares`]: what part of a call was the bus, if the bus itself has recorded.
//! - [`Processors`] and [`parties`]: when the parties to calls had a processor, if that was recorded;
//!   [`processes`] says which connections are theirs.
//! - [`start_ups`]: services from being asked for to their first reply, with the critical path.
//! - [`chrome_trace`]: all of it for the viewers of traces, with a track for each process.
//!
//! A monitor reads its copies some time after the bus had the messages, so that what it knows about
//! a call is from the one reading to the other: an estimate. The recording of a bus that wrote its
//! own trace has the times of that bus.

mod blocked;
mod chrome;
mod lanes;
mod path;
mod processor;
mod slowest;
mod startup;
mod way;

pub use blocked::{Blocked, blocked, blocked_table};
pub use chrome::chrome_trace;
pub use path::{Activity, Step};
pub use processor::{Processors, Turn, parties, processes};
pub use slowest::{slowest, slowest_table};
pub use startup::{Milestone, MilestoneKind, StartUp, start_ups};
pub use way::{Phase, Way, shares};
