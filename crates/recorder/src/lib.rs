//! Listens to buses, and writes recordings.
//!
//! A [`BusWatch`] listens to several buses at once, and gives what it hears as records. A [`Tape`]
//! takes records, and writes them to files. The modules, in the order of reading:
//!
//! - [`place`], [`clock`]: which bus, and what time it is.
//! - [`wanted`]: what is to be heard of it.
//! - `source`: where the messages of one bus come from.
//! - `census`: a second connection that asks who is there.
//! - [`objects`]: what the objects of services say they have.
//! - `punctuality`: whether messages are read when they come.
//! - [`listener`]: one bus, found again when it has closed the connections.
//! - [`watch`]: several of them.
//! - [`statistics`]: what a bus of ours tells of itself.
//! - `scheduler`: when the processes that talk have a processor.
//! - [`standing`]: what was learnt and still holds.
//! - [`rolling`]: the last messages, so that they can be asked about.
//! - [`tape`]: writing, so that nothing is lost silently.
//! - [`session`]: a recording while it is made.
//! - [`mod@origin`]: who records, on what.

#![forbid(unsafe_code)]

mod census;
pub mod clock;
pub mod listener;
pub mod objects;
pub mod origin;
pub mod place;
mod punctuality;
pub mod rolling;
mod scheduler;
pub mod session;
mod source;
pub mod standing;
pub mod statistics;
pub mod tape;
pub mod wanted;
pub mod watch;

pub use clock::RecordingClock;
pub use listener::{BusListenError, Notice};
pub use objects::ObjectIntrospection;
pub use origin::origin;
pub use place::BusPlace;
pub use rolling::Rolling;
pub use scheduler::{SchedulerNotice, Watching};
pub use session::{
    ReadingLateness, RecordingSession, SessionLimits, SessionNotice, SessionReport,
    SessionStartError, SessionTurn,
};
pub use source::Drained;
pub use statistics::{BusStatistics, ConnectionStatistics};
pub use tape::{RecordingTally, Tape, TapeDestination, TapeError, TapeNotice, UnfinishedRecording};
pub use wanted::{Beside, RecordingOptions, RecordingPace};
pub use watch::BusWatch;
