//! Captures the messages of buses and writes recordings.
//!
//! A [`BusWatch`] captures the messages of several buses as records. A [`RecordingWriter`] writes
//! records to files. The modules, in reading order:
//!
//! - [`place`], [`clock`]: the location of a bus, and the time of records.
//! - [`options`]: what is recorded.
//! - `source`: the source of the messages of one bus.
//! - `census`: a second connection, which queries the connections of the bus.
//! - [`objects`]: introspection data of services.
//! - `punctuality`: detects messages that are read late.
//! - [`listener`]: captures one bus, and reconnects if the connection is lost.
//! - [`watch`]: captures several buses.
//! - [`statistics`]: the statistics that a Diligence bus provides.
//! - `scheduler`: when the processes of connections run on a processor.
//! - [`standing`]: the facts that are currently true.
//! - [`rolling`]: the last messages, for queries.
//! - [`writer`]: writes files and counts all losses.
//! - [`session`]: a recording in progress.
//! - [`mod@origin`]: the program and machine that record.

#![forbid(unsafe_code)]

mod census;
pub mod clock;
pub mod listener;
pub mod objects;
pub mod options;
pub mod origin;
pub mod place;
mod punctuality;
pub mod rolling;
mod scheduler;
pub mod session;
mod source;
pub mod standing;
pub mod statistics;
pub mod watch;
pub mod writer;

pub use clock::RecordingClock;
pub use listener::{BusListenError, Notice};
pub use objects::ObjectIntrospection;
pub use options::{ProcessorRecording, RecordingOptions, RecordingPace};
pub use origin::origin;
pub use place::BusPlace;
pub use rolling::RollingCapture;
pub use scheduler::{FollowedProcesses, SchedulerNotice};
pub use session::{
    ReadingLateness, RecordingSession, SessionLimits, SessionNotice, SessionReport,
    SessionStartError, SessionTurn,
};
pub use source::SourceState;
pub use statistics::{BusStatistics, ConnectionStatistics};
pub use watch::BusWatch;
pub use writer::{
    RecordingDestination, RecordingNotice, RecordingTally, RecordingWriteError, RecordingWriter,
    UnfinishedRecording,
};
