//! Reads a trace ring like a recorder, and waits for expected messages.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use capture::record::{
    BusId, Fact, RawMessage, RecordedTime, RecordingRecord, Stages, TracedDelivery,
};
use capture::trace::{Assembler, AssemblerLimits};
use trace::{Follower, Step};
use wire::Message;

/// Reads a ring until expected messages or facts arrive.
pub(crate) struct TraceReader {
    follower: Follower,
    assembler: Assembler,
    pub(crate) seen: Vec<SeenRecord>,
    pub(crate) facts: Vec<Fact>,
    looked_at: usize,
}

/// A recorded message with its deliveries.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SeenRecord {
    /// The member or the error name; empty if the message was recorded without its content.
    pub(crate) member: String,
    pub(crate) sender: String,
    pub(crate) len: u32,
    /// When the bus received it.
    pub(crate) at: RecordedTime,
    pub(crate) routed_after: Duration,
    pub(crate) stages: Option<Stages>,
    pub(crate) copies: Vec<TracedDelivery>,
}

impl SeenRecord {
    fn new(raw: &RawMessage<'_>) -> Self {
        let message = Message::parse(raw.bytes).ok();
        let member = message.and_then(|it| it.member().map(|name| name.as_str().to_owned()));
        let error = message.and_then(|it| it.error_name().map(|name| name.as_str().to_owned()));
        let sender = message.and_then(|it| it.sender().map(|name| name.as_str().to_owned()));
        let trace = raw.trace.expect("all are traced");
        Self {
            member: member.or(error).unwrap_or_default(),
            sender: sender.unwrap_or_default(),
            len: raw.len,
            routed_after: trace.routing.after,
            stages: trace.routing.stages,
            at: raw.at,
            copies: trace.deliveries.to_vec(),
        }
    }
}

impl TraceReader {
    pub(crate) fn new(ring: &OwnedFd) -> Self {
        let follower = Follower::new(ring.as_fd()).expect("a ring");
        // Times are on the monotonic clock.
        let assembler = Assembler::new(BusId(0), 0, AssemblerLimits::default());
        Self { follower, assembler, seen: Vec::new(), facts: Vec::new(), looked_at: 0 }
    }

    /// Waits for the next message with this member or error name.
    pub(crate) fn wait_for(&mut self, member: &str) -> SeenRecord {
        loop {
            let seen = self.wait_for_one();
            if seen.member == member {
                return seen;
            }
        }
    }

    pub(crate) fn wait_for_one(&mut self) -> SeenRecord {
        let end = Instant::now() + LONGEST;
        while self.looked_at == self.seen.len() {
            self.read();
            assert!(Instant::now() < end, "nothing more comes: {:?} {:?}", self.seen, self.facts);
        }
        self.looked_at += 1;
        self.seen[self.looked_at - 1].clone()
    }

    pub(crate) fn wait_until(&mut self, is_there: impl Fn(&[Fact]) -> bool) {
        let end = Instant::now() + LONGEST;
        while !is_there(&self.facts) {
            self.read();
            assert!(Instant::now() < end, "nothing more comes: {:?}", self.facts);
        }
    }

    pub(crate) fn wait_for_end(mut self) {
        let end = Instant::now() + LONGEST;
        while !matches!(self.follower.step(), Step::Stopped) {
            assert!(Instant::now() < end, "it does not end");
        }
    }

    fn read(&mut self) {
        match self.follower.step() {
            Step::Record(record) => self.assembler.push(record.at, &record.entry),
            Step::Missed(missed) => self.assembler.missed(missed.messages.into()),
            Step::Nothing => {
                // Messages that wait for a copy that is never written are completed in time.
                self.assembler.idle(sys::clock::monotonic());
                std::thread::sleep(Duration::from_millis(1));
            }
            Step::Stopped => panic!("the trace is on"),
        }
        while let Some(record) = self.assembler.next_record() {
            match record {
                RecordingRecord::Message(message) => self.seen.push(SeenRecord::new(&message)),
                RecordingRecord::Fact { fact, .. } => self.facts.push(fact),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The maximum wait for an expected message.
const LONGEST: Duration = Duration::from_secs(20);
