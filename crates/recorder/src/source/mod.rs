//! Where the messages of one bus come from.

mod monitor;
mod ring;

use std::fmt;
use std::os::fd::BorrowedFd;

use capture::record::{BusId, Method, Record};
use client::{CallError, Connection, Ended};

use monitor::Monitor;
use ring::Ring;

use crate::clock::Clock;
use crate::wanted::Wanted;

/// What shows the messages of one bus.
pub(crate) trait Source: fmt::Debug {
    /// How it comes to them.
    fn method(&self) -> Method;

    /// What is readable when there is something to take; `None` if it has to be looked at from time
    /// to time.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Gives what has come to `each`, but no more than a share, so that others have a turn too.
    fn take(&mut self, clock: Clock, each: &mut dyn FnMut(Record<'_>)) -> Result<Drained, Ended>;

    /// Nothing more will be taken: gives what was still waiting for more to `each`.
    fn finish(&mut self, each: &mut dyn FnMut(Record<'_>)) {
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
pub(crate) struct Found {
    pub(crate) source: Box<dyn Source>,
    /// Why the bus did not let us become a monitor.
    pub(crate) refused: Option<CallError>,
}

/// Finds the best way to see the messages of a bus that are wanted.
pub(crate) fn find(
    connection: Connection,
    bus: BusId,
    wanted: &Wanted,
    clock: Clock,
) -> Result<Found, CallError> {
    let rules = wanted.filters.as_slice();
    let connection = match Ring::start(connection, bus, wanted, clock) {
        Ok(ring) => return Ok(Found { source: Box::new(ring), refused: None }),
        // Most buses have no traces.
        Err((connection, CallError::Remote { .. })) => connection,
        Err((_, error)) => return Err(error),
    };
    let (method, refused) = match monitor::become_monitor(&connection, rules) {
        Ok(()) => (Method::Monitor, None),
        Err(refused @ CallError::Remote { .. }) => {
            monitor::eavesdrop(&connection, rules)?;
            (Method::Eavesdrop, Some(refused))
        }
        Err(error) => return Err(error),
    };
    Ok(Found { source: Box::new(Monitor::new(connection, bus, method)), refused })
}
