//! Where the messages of one bus come from.

mod monitor;
mod ring;

use std::fmt;
use std::os::fd::BorrowedFd;

use capture::record::{BusId, CaptureMethod, RecordingRecord};
use client::{CallError, Connection, Ended};

use monitor::MonitorSource;
use ring::TraceSource;

use crate::clock::RecordingClock;
use crate::wanted::RecordingOptions;

/// What shows the messages of one bus.
pub(crate) trait MessageSource: fmt::Debug {
    /// How it comes to them.
    fn method(&self) -> CaptureMethod;

    /// What is readable when there is something to take; `None` if it has to be looked at from time
    /// to time.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Gives what has come to `each`, but no more than a share, so that others have a turn too.
    fn take(
        &mut self,
        clock: RecordingClock,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Drained, Ended>;

    /// Nothing more will be taken: gives what was still waiting for more to `each`.
    fn finish(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        let _ = each;
    }
}

/// Whether there may be more to take at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drained {
    /// All that had come was taken.
    Empty,
    /// There may be more.
    More,
}

/// A source that was found, and why it is not a better one.
#[derive(Debug)]
pub(crate) struct FoundSource {
    pub(crate) source: Box<dyn MessageSource>,
    /// Why the bus did not let us become a monitor.
    pub(crate) refused: Option<CallError>,
}

/// Finds the best way to see the messages of a bus that are wanted.
pub(crate) fn find(
    connection: Connection,
    bus: BusId,
    wanted: &RecordingOptions,
    clock: RecordingClock,
) -> Result<FoundSource, CallError> {
    let rules = wanted.filters.as_slice();
    let connection = match TraceSource::start(connection, bus, wanted, clock) {
        Ok(ring) => return Ok(FoundSource { source: Box::new(ring), refused: None }),
        // Most buses have no traces.
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
