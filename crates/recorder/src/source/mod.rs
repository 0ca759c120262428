//! The sources of the messages of one bus.

mod monitor;
mod ring;

use std::fmt;
use std::os::fd::BorrowedFd;

use capture::record::{BusId, CaptureMethod, RecordingRecord};
use client::{CallError, Connection, Ended};

use monitor::MonitorSource;
use ring::TraceSource;

use crate::clock::RecordingClock;
use crate::options::RecordingOptions;

/// A source of the messages of one bus.
pub(crate) trait MessageSource: fmt::Debug {
    /// The method by which messages are captured.
    fn method(&self) -> CaptureMethod;

    /// The file descriptor that becomes readable when there are messages; `None` if the source must
    /// be checked periodically.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Passes received messages to `each`, but only a limited number, so that other sources get a
    /// turn.
    fn take(
        &mut self,
        clock: RecordingClock,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<SourceState, Ended>;

    /// Ends the source, and passes all waiting records to `each`.
    fn finish(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        let _ = each;
    }
}

/// The state of the source after a turn of reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceState {
    /// Everything received was processed.
    Empty,
    /// There may be more to process.
    More,
}

/// The source that was chosen, and why not a better one.
#[derive(Debug)]
pub(crate) struct FoundSource {
    pub(crate) source: Box<dyn MessageSource>,
    /// The error of the bus for BecomeMonitor, if it was rejected.
    pub(crate) refused: Option<CallError>,
}

/// Chooses the best available source for the requested messages of a bus.
pub(crate) fn find(
    connection: Connection,
    bus: BusId,
    wanted: &RecordingOptions,
    clock: RecordingClock,
) -> Result<FoundSource, CallError> {
    let rules = wanted.filters.as_slice();
    let connection = match TraceSource::start(connection, bus, wanted, clock) {
        Ok(ring) => return Ok(FoundSource { source: Box::new(ring), refused: None }),
        // Most buses do not provide traces.
        Err((connection, CallError::Remote { .. })) => connection,
        Err((_, error)) => return Err(error),
    };
    let (method, refused) = match monitor::become_monitor(&connection, rules) {
        Ok(()) => (CaptureMethod::Monitor, None),
        Err(refused @ CallError::Remote { .. }) => {
            monitor::eavesdrop(&connection, rules)?;
            (CaptureMethod::Eavesdrop, Some(refused))
        }
        Err(error) => return Err(error),
    };
    Ok(FoundSource { source: Box::new(MonitorSource::new(connection, bus, method)), refused })
}
