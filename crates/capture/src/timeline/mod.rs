//! Analysis of time: waits of callers, and starts of services.
//!
//! - [`blocked`]: callers that were blocked until they got a reply.
//! - [`slowest`]: the calls with the longest durations.
//! - [`CallTimes`] and [`shares`]: the share of the bus in the duration of a call, if the bus
//!   recorded itself.
//! - [`BusTime`] and [`bus_shares`]: the time that messages spent inside the bus, by phase.
//! - [`ProcessorRecord`] and [`parties`]: the times when the parties to calls had a processor, if
//!   recorded; [`processes`] returns their connections.
//! - [`start_ups`]: the starts of services from the request to their first reply, with the critical
//!   path.
//! - [`failed_starts_table`]: services that failed to start, with the services that caused it.
//! - [`chrome_trace`]: a trace for trace viewers, with a track for each process.
//!
//! A monitor reads its copies some time after the bus had the messages, so the durations that it
//! measures are estimates. The recording of a bus that wrote its own trace has the times of that
//! bus.

mod blocked;
mod bus_shares;
mod bus_sum;
mod bus_time;
mod call_times;
mod chrome;
mod failed;
mod lanes;
mod path;
mod processor;
mod slowest;
mod startup;

pub use blocked::{BlockedWait, blocked, blocked_table};
pub use bus_shares::{BusShares, bus_shares};
pub(crate) use bus_sum::{BusSum, BusTimes, count_columns, phase_column};
pub use bus_time::{BusPhase, BusTime};
pub use call_times::{CallPhase, CallTimes, shares};
pub use chrome::chrome_trace;
pub use failed::failed_starts_table;
pub use path::{Activity, CriticalPathStep};
pub use processor::{ProcessorRecord, ProcessorTurn, parties, processes};
pub use slowest::{slowest, slowest_table};
pub use startup::{Milestone, MilestoneKind, StartUp, start_ups};
