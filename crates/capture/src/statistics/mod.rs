//! What a recording shows in numbers.
//!
//! - [`TableSubject`]: of what there are tables, by the names that people use.
//! - [`Summary`]: the whole in a few numbers, and what there is to know before they are believed.
//! - [`CopyStatistics`]: how often messages were copied and validated.
//! - [`GroupedTraffic`]: traffic and durations by member, service, sender, process, pair.
//! - [`sizes`]: messages by size, with the time that they cost by a [`Sweep`].
//! - [`member_sizes`]: the smallest, mean and largest message of each member.
//! - [`recipients`]: how many get each signal.
//! - [`replies`]: calls without an answer, answers without a call.
//! - [`dispatch`]: how long the bus had the messages of each member, and in which phases.
//! - [`switches`]: how often processes were switched, for each call.
//! - [`rules`]: who asks for what, and how often the same.
//!
//! Every number is exact: durations are sorted, nothing is estimated but what is called so.

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
pub use crate::recipients::Unknowable;
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
