//! Calls that wait for their replies.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU32;
use std::time::Duration;

use lane::LaneKey;

use super::{Ended, Incoming};

/// The handle of a pending call, which selects its reply in
/// [`poll_reply`](super::Core::poll_reply).
///
/// It is the serial of the message, so a call can be found in a recording of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallHandle(pub(super) NonZeroU32);

impl CallHandle {
    /// The serial of the call message.
    pub const fn serial(self) -> NonZeroU32 {
        self.0
    }
}

/// The reason why a call got no reply (method return or error).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReply {
    /// The deadline of the call passed.
    #[error("no reply arrived before the deadline")]
    TimedOut,
    /// The connection ended before the reply arrived.
    #[error(transparent)]
    Disconnected(Ended),
}

/// The outcome of a call: a reply (a method return or an error), or the reason why none arrived.
pub type ReplyOutcome<D> = Result<Incoming<D>, NoReply>;

/// All calls whose outcome has not been taken yet.
pub(super) struct CallTable<D> {
    /// The keys are serials chosen by this connection, so a cheap hash is safe.
    calls: HashMap<NonZeroU32, CallProgress<D>, BuildHasherDefault<SerialHasher>>,
    /// The deadlines of the waiting calls, with their serials.
    deadlines: BTreeSet<(Duration, NonZeroU32)>,
}

enum CallProgress<D> {
    Waiting { deadline: Option<Duration>, target: ReplyTarget, lane: Option<LaneKey> },
    Done(ReplyOutcome<D>),
}

/// The consumer of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ReplyTarget {
    /// The user of the core takes the reply with `poll_reply`.
    User,
    /// The reply is the owner of this name, for the table of owners.
    Owners(Box<str>),
    /// The reply tells whether a lane to this connection is possible.
    Lane(Box<str>),
}

impl<D> CallTable<D> {
    pub(super) fn new() -> Self {
        Self { calls: HashMap::default(), deadlines: BTreeSet::new() }
    }

    pub(super) fn is_used(&self, serial: NonZeroU32) -> bool {
        self.calls.contains_key(&serial)
    }

    pub(super) fn add(
        &mut self,
        serial: NonZeroU32,
        deadline: Option<Duration>,
        target: ReplyTarget,
    ) {
        self.calls.insert(serial, CallProgress::Waiting { deadline, target, lane: None });
        self.deadlines.extend(deadline.map(|deadline| (deadline, serial)));
    }

    /// The consumer of the reply to this call; `None` if no call with this serial is waiting.
    pub(super) fn target(&self, serial: NonZeroU32) -> Option<&ReplyTarget> {
        match self.calls.get(&serial)? {
            CallProgress::Waiting { target, .. } => Some(target),
            CallProgress::Done(_) => None,
        }
    }

    /// Records on which lane a call was sent; `None` for the bus.
    pub(super) fn set_lane(&mut self, serial: NonZeroU32, on: Option<LaneKey>) {
        if let Some(CallProgress::Waiting { lane, .. }) = self.calls.get_mut(&serial) {
            *lane = on;
        }
    }

    /// Returns the waiting calls that were sent on a lane. From now on, they wait for the bus.
    pub(super) fn take_lane(&mut self, key: LaneKey) -> Vec<u32> {
        let of_lane = self.calls.iter_mut().filter_map(|(serial, call)| match call {
            CallProgress::Waiting { lane, .. } => {
                lane.take_if(|lane| *lane == key).map(|_| serial.get())
            }
            CallProgress::Done(_) => None,
        });
        of_lane.collect()
    }

    /// Stores the outcome of a waiting call.
    pub(super) fn finish(&mut self, serial: NonZeroU32, outcome: ReplyOutcome<D>) {
        let done = self.calls.insert(serial, CallProgress::Done(outcome));
        if let Some(CallProgress::Waiting { deadline: Some(deadline), .. }) = done {
            self.deadlines.remove(&(deadline, serial));
        }
    }

    /// Takes the outcome of a call and removes the call; `None` while it waits.
    pub(super) fn take(&mut self, serial: NonZeroU32) -> Option<ReplyOutcome<D>> {
        match self.calls.get(&serial).expect("the outcome of a call is taken once") {
            CallProgress::Waiting { .. } => None,
            CallProgress::Done(_) => match self.calls.remove(&serial) {
                Some(CallProgress::Done(outcome)) => Some(outcome),
                _ => None,
            },
        }
    }

    /// Removes a call; its reply will be ignored.
    pub(super) fn forget(&mut self, serial: NonZeroU32) {
        if let Some(CallProgress::Waiting { deadline: Some(deadline), .. }) =
            self.calls.remove(&serial)
        {
            self.deadlines.remove(&(deadline, serial));
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Times out the calls whose deadline is `now` or earlier.
    pub(super) fn expire(&mut self, now: Duration) {
        while let Some(&(deadline, serial)) = self.deadlines.first()
            && deadline <= now
        {
            self.finish(serial, Err(NoReply::TimedOut));
        }
    }

    /// Fails all waiting calls because the connection ended.
    pub(super) fn end(&mut self, reason: Ended) {
        self.deadlines.clear();
        for call in self.calls.values_mut() {
            if let CallProgress::Waiting { .. } = call {
                *call = CallProgress::Done(Err(NoReply::Disconnected(reason)));
            }
        }
    }
}

/// Spreads consecutive serials over a table (Fibonacci hashing).
#[derive(Clone, Copy, Default)]
pub(super) struct SerialHasher(u64);

impl Hasher for SerialHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
