//! Traces: records of the bus's messages in shared memory that other processes read.
//!
//! Each connection that asks for a trace gets its own ring, and the bus may have one for itself,
//! the [flight recorder](recorder). The bus never waits for readers, and recording a message needs
//! no allocation and no system call.

mod clock;
mod copies;
mod lookup;
mod participants;
mod programs;
mod recorder;
mod ring;
mod ring_error;
mod saved;

use std::time::Duration;

use bus::{MatchingTime, PeerId, TraceAudience};
use trace::Entry;
use trace::record::{MessageRecord, Party, Stages};

use crate::connection::ReadTimes;
pub(crate) use clock::Clock;
pub(crate) use copies::Copies;
pub(crate) use lookup::ProcessOwner;
use lookup::ProcessRecord;
pub(crate) use participants::{Changed, Participants};
pub(crate) use programs::ProcessArrival;
use programs::Programs;
pub(crate) use recorder::{Dump, Dumped, RecorderRing, for_reader};
pub(crate) use ring::Ring;
pub(crate) use ring_error::RingError;
pub(crate) use saved::{RestoredRings, SavedRings};

/// The active traces of the bus.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// `None` while no trace is active, so that this is the only check per message.
    active: Option<Box<Active>>,
}

/// The state of active traces, of which there is at least one.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) rings: Rings,
    /// The start of tracing in nanoseconds of the monotonic clock; earlier events were not
    /// recorded.
    pub(crate) since: u64,
    pub(crate) clock: Clock,
    /// The copies of the messages that are being recorded.
    pub(crate) copies: Copies,
    programs: Programs,
    /// When the connection was read whose messages are being routed.
    reading: ReadTimes,
    /// When the bus began to route the current message; `None` if this is not measured.
    routing_since: Option<u64>,
}

/// The rings that entries are written to.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    of_peers: Vec<(PeerId, Ring)>,
    recorder: Option<RecorderRing>,
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

    /// Records that bytes were written to a connection with a recorded message: `total` bytes since
    /// it was accepted.
    #[inline(never)]
    pub(crate) fn written(&mut self, to: Option<u64>, total: u64) {
        if let (Some(to), Some(active)) = (to, self.active()) {
            active.rings.write(active.clock.now(), Entry::Written { to, total });
        }
    }

    /// The time after something was routed. Uses the timestamp of the recorded entry, if there is
    /// one, instead of reading the clock.
    pub(crate) fn time_after(&mut self) -> Duration {
        self.active().map_or_else(sys::clock::monotonic, |active| {
            Duration::from_nanos(active.clock.after_routing())
        })
    }

    pub(crate) fn recorder(&mut self) -> Option<&mut RecorderRing> {
        self.active()?.rings.recorder()
    }

    pub(crate) fn set_recorder(&mut self, recorder: Option<RecorderRing>) {
        if recorder.is_some() || self.is_on() {
            self.turn_on().rings.recorder = recorder;
            self.turn_off_if_unused();
        }
    }

    fn turn_on(&mut self) -> &mut Active {
        self.active.get_or_insert_with(|| {
            let clock = Clock::new();
            let (since, reading) = (clock.latest(), ReadTimes::default());
            let (rings, copies) = (Rings::default(), Copies::default());
            let (programs, routing_since) = (Programs::default(), None);
            Box::new(Active { rings, since, clock, copies, programs, reading, routing_since })
        })
    }

    fn turn_off_if_unused(&mut self) {
        self.active = self.active.take().filter(|active| !active.rings.is_empty());
    }
}

impl Active {
    /// Writes the program of a new connection into the traces that have programs.
    pub(crate) fn joined(&mut self, at: Duration, arrival: ProcessArrival<'_>) {
        if !self.rings.want_programs() {
            return;
        }
        self.write_late(at);
        let process = self.programs.look_up(arrival);
        self.rings.write_program(at, arrival.owner, &process);
        if let Some(recorder) = self.rings.recorder() {
            self.programs.share(arrival.owner.pid, &process);
            recorder.participants.joined(at, arrival.owner, process);
        }
    }

    /// Writes a connection whose process was not looked up.
    pub(crate) fn found(&mut self, at: Duration, owner: ProcessOwner) {
        let process = self.programs.known(owner.pid).unwrap_or_default();
        if let Some(recorder) = self.rings.recorder() {
            recorder.participants.joined(at, owner, process);
        }
    }

    /// Notes that a connection has closed.
    pub(crate) fn left(&mut self, at: Duration, peer: u64, why: &str) {
        self.write_late(at);
        if let Some(recorder) = self.rings.recorder.as_mut() {
            recorder.participants.left(at, peer, why, &mut self.programs);
        }
    }

    /// Whether there will be programs to [write late](Self::write_late).
    pub(crate) fn expects_late(&self) -> bool {
        self.programs.expects_late()
    }

    /// Writes the programs that took longer to look up than the bus waits. Their connections may have left.
    pub(crate) fn write_late(&mut self, at: Duration) {
        while let Some((owner, process)) = self.programs.late() {
            self.rings.write_program(at, owner, &process);
            if let Some(recorder) = self.rings.recorder() {
                self.programs.share(owner.pid, &process);
                recorder.participants.identified(at, owner, process);
            }
        }
    }

    /// Notes that a connection was read in a turn of the loop that began at `turn`.
    pub(crate) fn read(&mut self, turn: Duration) -> ReadTimes {
        let from = self.clock.continued(turn);
        self.reading = ReadTimes { from, until: self.clock.is_cheap().then(|| self.clock.now()) };
        self.reading
    }

    /// Continues with messages of a connection that was read at these times.
    pub(crate) fn resume(&mut self, reading: ReadTimes) {
        self.reading = reading;
    }

    /// Notes that routing of the next message begins.
    pub(crate) fn routing_begins(&mut self) {
        self.routing_since = self.reading.until.map(|until| match self.clock.latest() == until {
            true => until,
            false => self.clock.now(),
        });
    }

    /// When the bus received the current message, in nanoseconds; `None` if no trace was active
    /// then.
    pub(crate) fn received(&self) -> Option<u64> {
        Some(self.reading.from).filter(|&from| from >= self.since)
    }

    /// The measured stages of routing the current message, if any.
    pub(crate) fn stages(&self, matching: Option<MatchingTime>) -> Option<Stages> {
        let after = |time: u64| Stages::nanos(time.saturating_sub(self.reading.from));
        let (read, begun) = (after(self.reading.until?), after(self.routing_since?));
        let time_of = |cycles| self.clock.time_of(cycles);
        let (matching, took) = match matching {
            None => (Stages::ABSENT, Stages::ABSENT),
            Some(MatchingTime { begun, ended }) => {
                let (begun, ended) = (time_of(begun)?, time_of(ended)?);
                (after(begun), Stages::nanos(ended.saturating_sub(begun)))
            }
        };
        Stages::from_numbers([read, begun, matching, took])
    }
}

impl Rings {
    fn is_empty(&self) -> bool {
        self.of_peers.is_empty() && self.recorder.is_none()
    }

    pub(crate) fn recorder(&mut self) -> Option<&mut RecorderRing> {
        self.recorder.as_mut()
    }

    fn want_programs(&self) -> bool {
        self.recorder.is_some() || self.of_peers.iter().any(|(_, ring)| ring.wants.programs)
    }

    /// Writes the program of a connection to the traces that want programs.
    fn write_program(&mut self, at: Duration, owner: ProcessOwner, process: &ProcessRecord) {
        let rings = self.of_peers.iter_mut().map(|(_, ring)| ring);
        let entry = process.entry(Party::Peer(owner.peer), owner);
        rings.filter(|ring| ring.wants.programs).for_each(|ring| ring.write(at, entry));
    }

    /// Writes an entry that is not a message to all traces.
    #[inline]
    pub(crate) fn write(&mut self, at: u64, entry: Entry<'_>) {
        let at = Duration::from_nanos(at);
        let recorder = self.recorder.as_mut().map(RecorderRing::ring);
        let rings = self.of_peers.iter_mut().map(|(_, ring)| ring).chain(recorder);
        rings.for_each(|ring| ring.writer.write(at, entry));
    }

    /// Writes a message to the traces that want it.
    #[inline]
    pub(crate) fn write_message(
        &mut self,
        at: Duration,
        message: &MessageRecord<'_>,
        who: TraceAudience,
    ) {
        let recorder = self.recorder.as_mut().map(RecorderRing::ring);
        let of_peers = self.of_peers.iter_mut();
        match who {
            TraceAudience::All => {
                let whole = of_peers.map(|(_, ring)| ring).filter(|ring| ring.wants.all_messages);
                whole.chain(recorder).for_each(|ring| ring.writer.write_message(at, message));
            }
            TraceAudience::One(peer) => of_peers
                .filter(|(owner, _)| *owner == peer)
                .for_each(|(_, ring)| ring.writer.write_message(at, message)),
        }
    }
}
