//! Writes the queues of connections to their sockets.

use std::io;
use std::mem;
use std::time::Duration;

use bus::{Bus, Input, PeerId};
use sys::poll::Poller;

use super::Switchboard;
use super::flow::{self, Flush};
use crate::connection::{Connection, End};
use crate::event_loop::loop_state::LoopState;
use crate::event_loop::origin::EffectOrigin;
use crate::event_loop::source::EventSource;
use crate::event_loop::work::Work;
use crate::fault::Fault;
use crate::outgoing::{Outcome, WriteProgress};

/// Writing queues to sockets.
impl Switchboard {
    /// Writes the queues if routing has taken long, so that recipients need not wait for the end of
    /// a turn.
    #[inline]
    pub(crate) fn flush_if_late(&mut self, flushed_at: &mut Duration) {
        if self.work.awaited.is_empty() && self.work.passing.is_empty() {
            return;
        }
        let traces = &mut self.desk.traces;
        let now = if traces.is_on() { traces.time_after() } else { sys::clock::monotonic() };
        if now.saturating_sub(*flushed_at) > FLUSH_INTERVAL {
            self.state.now = now;
            self.flush();
            *flushed_at = now;
        }
    }

    /// Writes once to every connection with a queue.
    pub(crate) fn flush(&mut self) {
        while !self.work.awaited.is_empty() || !self.work.passing.is_empty() {
            let mut awaited = mem::take(&mut self.work.awaited);
            awaited.drain(..).for_each(|peer| self.flush_one(peer));
            self.keep_list(awaited, |work| &mut work.awaited);
            let mut passing = mem::take(&mut self.work.passing);
            passing.drain(..).for_each(|peer| self.flush_one(peer));
            self.keep_list(passing, |work| &mut work.passing);
        }
    }

    /// Stores an emptied list for reuse, unless a new one was filled in the meantime.
    fn keep_list(&mut self, list: Vec<PeerId>, place: fn(&mut Work) -> &mut Vec<PeerId>) {
        let place = place(&mut self.work);
        if place.is_empty() {
            *place = list;
        }
    }

    /// Writes the queue of one connection, as far as its socket accepts it. Reports written
    /// messages to the bus; the resulting effects are applied at the end.
    pub(crate) fn flush_one(&mut self, peer: PeerId) {
        while let Flush::Again = self.flush_once(peer) {}
        if !self.buffers.released.list().is_empty() {
            self.release_senders();
        }
        if !self.buffers.effects_of_writes.is_empty() {
            self.apply_effects_of_writes();
        }
    }

    #[cold]
    fn apply_effects_of_writes(&mut self) {
        let mut effects = mem::take(&mut self.buffers.effects_of_writes);
        let origin = EffectOrigin::Bus { fds: None };
        self.begin_applying(&effects, &origin);
        effects.list().iter().for_each(|effect| self.apply(effect, &effects, &origin));
        effects.clear();
        self.buffers.effects_of_writes = effects;
    }

    fn flush_once(&mut self, peer: PeerId) -> Flush {
        let time = self.state.time();
        let Self { state, user_fds, buffers, desk, work, .. } = self;
        let LoopState { table, bus, poller, now, .. } = state;
        let Some(connection) = table.get_mut(peer) else { return Flush::Done };
        let fds_max = match connection.queue.has_fds() {
            true => flow::allowance(connection, bus, user_fds),
            false => u64::MAX,
        };
        let left = connection.queue.left();
        let released = &mut buffers.released;
        let release = |from, load| released.add(from, load);
        let WriteProgress { written, moved, outcome } =
            connection.write(fds_max, *now, &mut buffers.queues, release);
        buffers.copied += moved;
        if written.bytes > 0 {
            if left < connection.traced_end && left < connection.queue.left() {
                desk.traces.written(bus.recipient_number(peer), connection.queue.left());
            }
            if written.fds > 0 {
                flow::note_fds_written(connection, bus, user_fds, written.fds);
            }
            let copied = mem::take(&mut buffers.copied);
            let input = Input::Written { to: peer, amount: written, copied };
            bus.handle(time, input, &mut buffers.effects_of_writes);
        }
        if let (Outcome::Empty, true) = (&outcome, connection.writing.is_flowing()) {
            if let Err(error) = watch(connection, poller, bus, *now, work) {
                self.unwatched(peer, error);
            }
            return Flush::Done;
        }
        self.write_ended(peer, written.bytes, outcome)
    }

    /// Handles the outcome of a write that did not empty the queue of a connection with a writable
    /// socket.
    #[cold]
    fn write_ended(&mut self, peer: PeerId, written: u64, outcome: Outcome) -> Flush {
        match outcome {
            Outcome::Empty => self.unblocked(peer),
            Outcome::Blocked => self.blocked(peer, written),
            Outcome::Starved => self.starved(peer, written),
            Outcome::OverAllowance => return self.over_allowance(peer, written),
            Outcome::Dropped(dropped) => {
                self.undelivered(peer, &dropped);
                return Flush::Again;
            }
            Outcome::Gone => self.left(peer),
        }
        Flush::Done
    }

    /// Handles a connection whose peer has closed it.
    fn left(&mut self, peer: PeerId) {
        if let Some(connection) = self.state.table.get(peer) {
            let end = connection.left();
            self.end(peer, end);
        }
    }

    /// Whether a connection that the peer has closed can be read now. If not, it is read in later
    /// turns, and the poller does not report it in every wait.
    pub(crate) fn may_read_last(&mut self, peer: PeerId) -> bool {
        let may_read = self.may_read(peer);
        let LoopState { table, poller, .. } = &mut self.state;
        let Some(connection) = table.get_mut(peer) else { return false };
        if !connection.has_backlog() && may_read {
            // It may not have been watched for reading, so unread data may remain.
            return true;
        }
        if connection.watched.take().is_some() {
            let _ = poller.remove(&connection.socket);
        }
        false
    }

    /// Updates the events that the poller watches for on a connection.
    pub(crate) fn update_interest(&mut self, peer: PeerId) {
        let Self { state, work, .. } = self;
        let LoopState { table, bus, poller, now, .. } = state;
        let Some(connection) = table.get_mut(peer) else { return };
        if let Err(error) = watch(connection, poller, bus, *now, work) {
            self.unwatched(peer, error);
        }
    }

    /// Ends a connection that the poller cannot watch.
    #[cold]
    pub(super) fn unwatched(&mut self, peer: PeerId, error: io::Error) {
        self.state.fault(Fault::UnwatchedConnection(error));
        self.end(peer, End::Unwatched);
    }
}

/// Updates the events that the poller watches for on a connection, and resumes its backlog if it is
/// no longer held.
#[inline]
pub(super) fn watch(
    connection: &mut Connection,
    poller: &Poller,
    bus: &Bus,
    now: Duration,
    work: &mut Work,
) -> io::Result<()> {
    let may_read = !flow::is_unread(connection, bus, now);
    if may_read && connection.resume_backlog() {
        work.backlog.push_back(connection.peer);
    }
    connection.watch(poller, EventSource::Peer(connection.peer).token(), may_read)
}

/// The maximum time of routing before queues are written.
const FLUSH_INTERVAL: Duration = Duration::from_micros(500);
