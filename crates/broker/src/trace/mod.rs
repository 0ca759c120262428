//! What the bus does with messages, written into memory that others read.
//!
//! Each connection that asks for it has a ring of its own, and the bus may have one for itself, the
//! [flight recorder](recorder). Nothing here waits for who reads, and a message costs no allocation
//! and no system call.

mod copies;
mod recorder;
mod ring;

use std::time::Duration;

use bus::{Audience, PeerId};
use trace::Entry;
use trace::record::Message;

use crate::outgoing::SharedFds;
pub(crate) use copies::Copies;
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
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) rings: Rings,
    /// Since when, by the monotonic clock: whatever is older was not looked at.
    pub(crate) since: Duration,
    pub(crate) clock: Clock,
    /// The copies of the messages that are being written down.
    pub(crate) copies: Copies,
}

/// Where it is written.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    of_peers: Vec<(PeerId, Ring)>,
    recorder: Option<FlightRecorder>,
}

/// The monotonic clock, of which a reading serves whoever wants to know the time next: the bus does
/// one thing at a time, so that what it does after a reading begins then.
#[derive(Debug)]
pub(crate) struct Clock {
    latest: Duration,
    /// Whether something was routed at that time, and nobody has asked for the time after it.
    has_routed: bool,
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
        self.turn_on().rings.of_peers.push((peer, ring));
    }

    /// Ends the trace of a connection, if it has one.
    pub(crate) fn end(&mut self, peer: PeerId) {
        if let Some(active) = self.active() {
            active.rings.of_peers.retain(|&(owner, _)| owner != peer);
            self.turn_off_if_unused();
        }
    }

    /// The time after something was routed, which takes no reading of the clock if it was written
    /// down.
    pub(crate) fn time_after(&mut self) -> Duration {
        self.active().map_or_else(sys::clock::monotonic, |active| active.clock.after_routing())
    }

    pub(crate) fn recorder(&mut self) -> Option<&mut FlightRecorder> {
        self.active()?.rings.recorder.as_mut()
    }

    pub(crate) fn set_recorder(&mut self, recorder: Option<FlightRecorder>) {
        if recorder.is_some() || self.is_on() {
            self.turn_on().rings.recorder = recorder;
            self.turn_off_if_unused();
        }
    }

    fn turn_on(&mut self) -> &mut Active {
        self.active.get_or_insert_with(|| {
            let since = sys::clock::monotonic();
            let clock = Clock { latest: since, has_routed: false };
            let (rings, copies) = (Rings::default(), Copies::default());
            Box::new(Active { rings, since, clock, copies })
        })
    }

    fn turn_off_if_unused(&mut self) {
        self.active = self.active.take().filter(|active| !active.rings.is_empty());
    }
}

impl Clock {
    /// When something begins that follows what the clock was read for last, in a turn of the loop
    /// that began then.
    #[inline]
    pub(crate) fn continued(&self, turn: Duration) -> Duration {
        self.latest.max(turn)
    }

    /// The time, now that something is routed.
    #[inline]
    pub(crate) fn routed(&mut self) -> Duration {
        self.has_routed = true;
        self.now()
    }

    /// The time.
    #[inline]
    pub(crate) fn now(&mut self) -> Duration {
        self.latest = sys::clock::monotonic();
        self.latest
    }

    fn after_routing(&mut self) -> Duration {
        if std::mem::take(&mut self.has_routed) { self.latest } else { self.now() }
    }
}

impl Rings {
    fn is_empty(&self) -> bool {
        self.of_peers.is_empty() && self.recorder.is_none()
    }

    /// Writes what is no message: all traces have it.
    #[inline]
    pub(crate) fn write(&mut self, at: Duration, entry: Entry<'_>) {
        let recorder = self.recorder.as_mut().map(FlightRecorder::ring);
        let rings = self.of_peers.iter_mut().map(|(_, ring)| ring).chain(recorder);
        rings.for_each(|ring| ring.writer.write(at, entry));
    }

    /// Writes a message for those who want it.
    #[inline]
    pub(crate) fn write_message(&mut self, at: Duration, message: &Message<'_>, who: Audience) {
        let recorder = self.recorder.as_mut().map(FlightRecorder::ring);
        let of_peers = self.of_peers.iter_mut();
        match who {
            Audience::All => {
                let whole = of_peers.map(|(_, ring)| ring).filter(|ring| ring.wants_all);
                whole.chain(recorder).for_each(|ring| ring.writer.write_message(at, message));
            }
            Audience::One(peer) => of_peers
                .filter(|(owner, _)| *owner == peer)
                .for_each(|(_, ring)| ring.writer.write_message(at, message)),
        }
    }
}
