//! What the bus does with messages, written into memory that others read.
//!
//! Each connection that asks for it has a ring of its own, and the bus may have one for itself, the
//! [flight recorder](recorder). Nothing here waits for who reads, and a message costs no allocation
//! and no system call.

mod recorder;
mod ring;

use std::time::Duration;

use bus::{Audience, PeerId};
use trace::record::Message;
use trace::{Delivered, Entry};

use crate::outgoing::SharedFds;
pub(crate) use recorder::{Dump, Dumped, FlightRecorder};
pub(crate) use ring::Ring;

/// All traces that are on.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Absent while there are none, so that this is all that a message has to ask.
    active: Option<Box<Active>>,
    /// The descriptor of a ring that is being handed out.
    pub(crate) lent: Option<SharedFds>,
}

/// Traces, at least one.
#[derive(Debug, Default)]
pub(crate) struct Active {
    rings: Vec<(PeerId, Ring)>,
    recorder: Option<FlightRecorder>,
    /// Since when, by the monotonic clock: whatever is older was not looked at.
    pub(crate) since: Duration,
    /// The copies of the messages that are being written down.
    pub(crate) copies: Copies,
    /// When a message was last written down, for who wants to know the time right after.
    latest: Option<Duration>,
}

impl Traces {
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.active.is_some()
    }

    #[inline]
    pub(crate) fn active(&mut self) -> Option<&mut Active> {
        self.active.as_deref_mut()
    }

    /// Begins the trace of a connection.
    pub(crate) fn begin(&mut self, peer: PeerId, ring: Ring) {
        self.turn_on().rings.push((peer, ring));
    }

    /// Ends the trace of a connection, if it has one.
    pub(crate) fn end(&mut self, peer: PeerId) {
        if let Some(active) = self.active() {
            active.rings.retain(|&(owner, _)| owner != peer);
            self.turn_off_if_unused();
        }
    }

    /// The time after something was routed: that of the message that was written down last, if one
    /// was since this was last asked, which is a reading of the clock less.
    #[cold]
    pub(crate) fn time_after(&mut self) -> Duration {
        let latest = self.active().and_then(|active| active.latest.take());
        latest.unwrap_or_else(sys::clock::monotonic)
    }

    pub(crate) fn recorder(&mut self) -> Option<&mut FlightRecorder> {
        self.active()?.recorder.as_mut()
    }

    pub(crate) fn set_recorder(&mut self, recorder: Option<FlightRecorder>) {
        if recorder.is_some() || self.is_on() {
            self.turn_on().recorder = recorder;
            self.turn_off_if_unused();
        }
    }

    fn turn_on(&mut self) -> &mut Active {
        let since = sys::clock::monotonic();
        self.active.get_or_insert_with(|| Box::new(Active { since, ..Active::default() }))
    }

    fn turn_off_if_unused(&mut self) {
        let is_used = |active: &Active| !active.rings.is_empty() || active.recorder.is_some();
        self.active = self.active.take().filter(|active| is_used(active));
    }
}

impl Active {
    /// The time, for all messages that are written down at once.
    pub(crate) fn read_clock(&mut self) -> Duration {
        let now = sys::clock::monotonic();
        self.latest = Some(now);
        now
    }

    /// Writes what is no message: all traces have it.
    pub(crate) fn write(&mut self, at: Duration, entry: Entry<'_>) {
        self.all_rings().for_each(|ring| ring.writer.write(at, entry));
    }

    /// Writes a message for those who want it.
    pub(crate) fn write_message(&mut self, at: Duration, message: Message<'_>, who: Audience) {
        match who {
            Audience::All => {
                let whole = self.rings.iter_mut().map(|(_, ring)| ring);
                let whole = whole.filter(|ring| ring.wants_all);
                let recorder = self.recorder.as_mut().map(FlightRecorder::ring);
                whole.chain(recorder).for_each(|ring| ring.write(at, Entry::Message(message)));
            }
            Audience::One(peer) => {
                let ring = self.rings.iter_mut().find(|(owner, _)| *owner == peer);
                if let Some((_, ring)) = ring {
                    ring.write(at, Entry::Message(message));
                }
            }
        }
    }

    fn all_rings(&mut self) -> impl Iterator<Item = &mut Ring> {
        let recorder = self.recorder.as_mut().map(FlightRecorder::ring);
        self.rings.iter_mut().map(|(_, ring)| ring).chain(recorder)
    }
}

/// Copies of messages, to be found by message. The memory is kept.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    all: Vec<Copy>,
    of_one: Vec<Delivered>,
}

/// A copy of a message, which is known by where its head stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) head: usize,
    pub(crate) recipient: PeerId,
    pub(crate) delivered: Delivered,
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    pub(crate) fn add(&mut self, copy: Copy) {
        self.all.push(copy);
    }

    /// All are there.
    pub(crate) fn finish(&mut self) {
        // What the bus says in between is written behind the message that it speaks of.
        if !self.all.is_sorted_by_key(|copy| copy.head) {
            self.all.sort_by_key(|copy| copy.head);
        }
    }

    /// Those of one message, and who has the first of them.
    pub(crate) fn of(&mut self, head: usize) -> (Option<PeerId>, &[Delivered]) {
        let start = self.all.partition_point(|copy| copy.head < head);
        let copies = self.all[start..].iter().take_while(|copy| copy.head == head);
        self.of_one.clear();
        self.of_one.extend(copies.map(|copy| copy.delivered));
        let first = self.all.get(start).filter(|_| !self.of_one.is_empty());
        (first.map(|copy| copy.recipient), &self.of_one)
    }
}
