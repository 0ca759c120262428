//! Statistics of recordings.
//!
//! - [`TableSubject`]: the tables, by the names that commands accept.
//! - [`Summary`]: totals, with caveats about the recording.
//! - [`CopyStatistics`]: the number of copies and validations of messages.
//! - [`GroupedTraffic`]: traffic and durations by member, service, sender, process, pair.
//! - [`sizes`]: messages by size, with their cost according to a [`Sweep`].
//! - [`member_sizes`]: the smallest, mean and largest message of each member.
//! - [`recipients`]: the number of recipients of signals.
//! - [`replies`]: calls without a reply, and replies without a call.
//! - [`dispatch`]: the time that the bus spent on the messages of each member, by phase.
//! - [`switches`]: the number of context switches for each call.
//! - [`rules`]: the match rules of each connection, with duplicates.
//!
//! Every number is exact, unless it is marked as an estimate: percentiles are computed from sorted
//! durations.

mod copies;
mod dispatch;
mod groups;
mod key;
mod member_sizes;
mod recipients;
mod replies;
mod rules;
mod sizes;
mod subject;
mod summary;
mod sweep;
mod switches;

pub use crate::percentiles::Percentiles;
pub use crate::recipients::UnknownReason;
pub use copies::CopyStatistics;
pub use dispatch::dispatch;
pub use groups::{GroupedTraffic, MessageGroup};
pub use key::GroupKeyKind;
pub use member_sizes::member_sizes;
pub use recipients::recipients;
pub use replies::replies;
pub use rules::rules;
pub use sizes::sizes;
pub use subject::{TableSubject, UnknownSubject};
pub use summary::{Caveat, Summary};
pub use sweep::{LeaveOneOut, Sweep, SweepChoice, SweepError};
pub use switches::switches;
