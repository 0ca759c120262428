//! Calls that wait for their replies.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU32;
use std::time::Duration;

use super::{Ended, Incoming};

/// A call that was made, to ask for its reply.
///
/// It is the serial of the message, so that it can be found in a record of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallHandle(pub(super) NonZeroU32);

impl CallHandle {
    /// The serial of the call.
    pub const fn serial(self) -> NonZeroU32 {
        self.0
    }
}

/// Why a call has no reply, neither results nor an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReply {
    /// Its deadline passed.
    #[error("no reply came in time")]
    TimedOut,
    /// The connection ended.
    #[error(transparent)]
    Disconnected(Ended),
}

/// What a call brought: a message that is a return or an error, or neither.
pub type ReplyOutcome<D> = Result<Incoming<D>, NoReply>;

/// Every call whose reply nobody has taken yet.
pub(super) struct CallTable<D> {
    /// Keyed by serials that we chose, so a cheap hash will do.
    calls: HashMap<NonZeroU32, CallProgress<D>, BuildHasherDefault<SerialHasher>>,
    /// The deadlines of the calls that wait.
    deadlines: BTreeSet<(Duration, NonZeroU32)>,
}

enum CallProgress<D> {
    Waiting { deadline: Option<Duration>, asker: CallAsker },
    Done(ReplyOutcome<D>),
}

/// Who is interested in a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CallAsker {
    /// The user of the core.
    User,
    /// The table of owners, which asked for the owner of this name.
    Owners(Box<str>),
}

impl<D> CallTable<D> {
    pub(super) fn new() -> Self {
        Self { calls: HashMap::default(), deadlines: BTreeSet::new() }
    }

    pub(super) fn is_used(&self, serial: NonZeroU32) -> bool {
        self.calls.contains_key(&serial)
    }

    pub(super) fn add(&mut self, serial: NonZeroU32, deadline: Option<Duration>, asker: CallAsker) {
        self.calls.insert(serial, CallProgress::Waiting { deadline, asker });
        self.deadlines.extend(deadline.map(|deadline| (deadline, serial)));
    }

    /// Who waits for the reply to the call with this serial, if anybody does.
    pub(super) fn asker(&self, serial: NonZeroU32) -> Option<&CallAsker> {
        match self.calls.get(&serial)? {
            CallProgress::Waiting { asker, .. } => Some(asker),
            CallProgress::Done(_) => None,
        }
    }

    /// Ends the waiting of a call that waits.
    pub(super) fn finish(&mut self, serial: NonZeroU32, outcome: ReplyOutcome<D>) {
        let done = self.calls.insert(serial, CallProgress::Done(outcome));
        if let Some(CallProgress::Waiting { deadline: Some(deadline), .. }) = done {
            self.deadlines.remove(&(deadline, serial));
        }
    }

    /// Takes what a call brought, which ends it; `None` while it waits.
    pub(super) fn take(&mut self, serial: NonZeroU32) -> Option<ReplyOutcome<D>> {
        match self.calls.get(&serial).expect("a call is over once its outcome was taken") {
            CallProgress::Waiting { .. } => None,
            CallProgress::Done(_) => match self.calls.remove(&serial) {
                Some(CallProgress::Done(outcome)) => Some(outcome),
                _ => None,
            },
        }
    }

    /// Forgets a call; its reply will be ignored.
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

    /// Ends the waiting of calls whose deadline is `now` or earlier.
    pub(super) fn expire(&mut self, now: Duration) {
        while let Some(&(deadline, serial)) = self.deadlines.first()
            && deadline <= now
        {
            self.finish(serial, Err(NoReply::TimedOut));
        }
    }

    /// Ends the waiting of all calls.
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
