//! The trace that a bus of ours writes itself.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{BusId, CaptureMethod, RecordingRecord};
use capture::trace::Assembler;
use client::wire::body::{UnixFd, Value};
use client::wire::names::ErrorName;
use client::wire::signature::Signature;
use client::{CallError, Connection, Ended, Processed, driver, error_name};
use sys::clock::monotonic;
use trace::{Follower, Step};

use super::{Drained, MessageSource};
use crate::clock::RecordingClock;
use crate::wanted::RecordingOptions;

/// A ring in shared memory into which the bus writes what it does with messages.
#[derive(Debug)]
pub(crate) struct TraceSource {
    connection: Connection,
    follower: Follower,
    assembler: Assembler,
}

impl TraceSource {
    /// Asks the bus for a trace of the messages that are wanted; an error of the bus if it has no
    /// traces, or not for us.
    pub(super) fn start(
        connection: Connection,
        bus: BusId,
        wanted: &RecordingOptions,
        clock: RecordingClock,
    ) -> Result<Self, (Connection, CallError)> {
        match start(&connection, &wanted.filters) {
            Ok(follower) => {
                let assembler = Assembler::new(bus, clock.ahead(), wanted.pace.patience());
                Ok(Self { connection, follower, assembler })
            }
            Err(error) => Err((connection, error)),
        }
    }

    /// The trace is the connection's, so it lives as long as that.
    fn check_connection(&self) -> Result<(), Ended> {
        while self.connection.process(Some(Duration::ZERO))? != Processed::Nothing {}
        Ok(())
    }

    fn hand_out(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        while let Some(record) = self.assembler.next_record() {
            each(record);
        }
    }
}

impl MessageSource for TraceSource {
    fn method(&self) -> CaptureMethod {
        CaptureMethod::Trace
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn take(
        &mut self,
        _: RecordingClock,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Drained, Ended> {
        for _ in 0..RECORDS_PER_TURN {
            match self.follower.step() {
                Step::Record(record) => self.assembler.push(record.at, &record.entry),
                Step::Missed(missed) => self.assembler.missed(missed.messages.into()),
                Step::Nothing => {
                    self.assembler.idle(monotonic());
                    self.hand_out(each);
                    return self.check_connection().map(|()| Drained::Empty);
                }
                Step::Stopped => {
                    self.finish(each);
                    self.check_connection()?;
                    return Err(Ended::Closed);
                }
            }
            self.hand_out(each);
        }
        Ok(Drained::More)
    }

    fn finish(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        self.assembler.finish();
        self.hand_out(each);
    }
}

/// A large ring outlasts a pause of ours; a bus that has no room for one may have some for less. An older bus
/// writes no programs.
fn start(connection: &Connection, rules: &[String]) -> Result<Follower, CallError> {
    let attempt = |size: u64, programs: Option<bool>| {
        let rules = rules.iter().map(|rule| Value::String(rule.as_str().into())).collect();
        let element = Signature::new("s").expect("a type").into();
        let rules = Value::Array { element, items: rules };
        let mut options = BTreeMap::from([("Rules", rules), ("Size", Value::Uint64(size))]);
        options.extend(programs.map(|programs| ("Programs", Value::Boolean(programs))));
        connection.call(driver::NAME, driver::PATH, TRACE, "Start", &(options,))
    };
    let attempt = |size| match attempt(size, Some(true)) {
        Err(error) if is(&error, error_name::INVALID_ARGS) => attempt(size, None),
        outcome => outcome,
    };
    let reply = match attempt(RING_LARGE) {
        Err(error) if is(&error, error_name::LIMITS_EXCEEDED) => attempt(RING_SMALL)?,
        outcome => outcome?,
    };
    let (UnixFd(index), _) = reply.read::<(UnixFd, BTreeMap<&str, Value>)>()?;
    let ring = reply.descriptors().get(index as usize);
    let follower = ring.and_then(|ring| Follower::new(ring.as_fd()).ok());
    follower.ok_or_else(|| CallError::Remote {
        name: error_name::FAILED.as_str().into(),
        message: "the bus has a trace of another version".into(),
    })
}

fn is(error: &CallError, name: ErrorName<'_>) -> bool {
    error.remote_name() == Some(name.as_str())
}

const TRACE: &str = "org.diligence.Trace1";

/// Bytes of a ring: more than half a second of the fastest traffic.
const RING_LARGE: u64 = 64 << 20;
/// Bytes of a ring where there is no room for a large one.
const RING_SMALL: u64 = 4 << 20;

/// Records that are taken before others have a turn.
const RECORDS_PER_TURN: usize = 8192;
