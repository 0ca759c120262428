//! The trace that the Diligence bus writes.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{BusId, CaptureMethod, RecordingRecord};
use capture::trace::Assembler;
use client::wire::body::{UnixFd, Value};
use client::wire::names::{ErrorName, MemberName};
use client::wire::signature::Signature;
use client::{CallError, CalledMethod, Connection, Ended, Processed, driver, error_name};
use sys::clock::monotonic;
use trace::{Follower, Step};

use super::{MessageSource, SourceState};
use crate::clock::RecordingClock;
use crate::options::RecordingOptions;

/// A ring in shared memory in which the bus records its processing of messages.
#[derive(Debug)]
pub(crate) struct TraceSource {
    connection: Connection,
    follower: Follower,
    assembler: Assembler,
}

impl TraceSource {
    /// Requests a trace of the selected messages. The bus returns an error if it does not support
    /// traces or denies access.
    pub(super) fn start(
        connection: Connection,
        bus: BusId,
        wanted: &RecordingOptions,
        clock: RecordingClock,
    ) -> Result<Self, (Connection, CallError)> {
        match start(&connection, &wanted.filters) {
            Ok(follower) => {
                let assembler = Assembler::new(bus, clock.ahead(), wanted.pace.limits());
                Ok(Self { connection, follower, assembler })
            }
            Err(error) => Err((connection, error)),
        }
    }

    /// Checks the connection that owns the trace, as the trace ends with it.
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
    ) -> Result<SourceState, Ended> {
        for _ in 0..RECORDS_PER_TURN {
            match self.follower.step() {
                Step::Record(record) => self.assembler.push(record.at, &record.entry),
                Step::Missed(missed) => self.assembler.missed(missed.messages.into()),
                Step::Nothing => {
                    self.assembler.idle(monotonic());
                    self.hand_out(each);
                    return self.check_connection().map(|()| SourceState::Empty);
                }
                Step::Stopped => {
                    self.finish(each);
                    self.check_connection()?;
                    return Err(Ended::Closed);
                }
            }
            self.hand_out(each);
        }
        Ok(SourceState::More)
    }

    fn finish(&mut self, each: &mut dyn FnMut(RecordingRecord<'_>)) {
        self.assembler.finish();
        self.hand_out(each);
    }
}

/// Requests a large ring, which tolerates long pauses of the recorder, or a small one if the bus
/// lacks memory. An older bus does not support recording programs.
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
        message: "the version of the bus's trace is not supported".into(),
        method: CalledMethod::of(&driver::method(MemberName::literal("Start"))).into(),
    })
}

fn is(error: &CallError, name: ErrorName<'_>) -> bool {
    error.remote_name() == Some(name.as_str())
}

const TRACE: &str = "org.diligence.Trace1";

/// The size of a ring in bytes: more than half a second of the fastest traffic.
const RING_LARGE: u64 = 64 << 20;
/// The size, in bytes, of a ring if the bus cannot provide a large one.
const RING_SMALL: u64 = 4 << 20;

/// The maximum number of records read before other sources get a turn.
const RECORDS_PER_TURN: usize = 8192;
