//! Where time went: who waited for whom, and how services came up.
//!
//! - [`blocked`]: callers that did nothing else until their answer came.
//! - [`slowest`]: the calls that took longest.
//! - [`CallTimes`] and [`shares`]: what part of a call was the bus, if the bus itself has recorded.
//! - [`BusTime`] and [`bus_shares`]: for how long the bus had a message, and in which phases.
//! - [`ProcessorRecord`] and [`parties`]: when the parties to calls had a processor, if that was recorded;
//!   [`processes`] says which connections are theirs.
//! - [`start_ups`]: services from being asked for to their first reply, with the critical path.
//! - [`failed_starts_table`]: services that did not start, and the services to blame.
//! - [`chrome_trace`]: all of it for the viewers of traces, with a track for each process.
//!
//! A monitor reads its copies some time after the bus had the messages, so that what it knows about
//! a call is from the one reading to the other: an estimate. The recording of a bus that wrote its
//! own trace has the times of that bus.

mod blocked;
mod bus_shares;
mod bus_sum;
mod bus_time;
mod chrome;
mod failed;
mod lanes;
mod path;
mod processor;
mod slowest;
mod startup;
mod way;

pub use blocked::{Blocked, blocked, blocked_table};
pub use bus_shares::{BusShares, bus_shares};
pub(crate) use bus_sum::{BusSum, BusTimes, count_columns, phase_column};
pub use bus_time::{BusPhase, BusTime};
pub use chrome::chrome_trace;
pub use failed::failed_starts_table;
pub use path::{Activity, CriticalPathStep};
pub use processor::{ProcessorRecord, ProcessorTurn, parties, processes};
pub use slowest::{slowest, slowest_table};
pub use startup::{Milestone, MilestoneKind, StartUp, start_ups};
pub use way::{CallPhase, CallTimes, shares};
