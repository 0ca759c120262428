//! From the bus to sockets.

use std::io;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use bus::{Body, Bus, Delivery, Effect, Effects, Fds, Input, LogEvent, PeerId, Urgency};
use sys::poll::Poller;
use wire::Message;

use super::{EventLoop, Source, back_pressure};
use crate::back_pressure::{Limits, Writing};
use crate::connection::{Connection, End, Phase, Queued, Role};
use crate::fault::Fault;
use crate::outgoing::{
    Backing, Charge, Load, Outcome, Outgoing, OutgoingBody, Progress, SharedFds, SharedSlice,
};
use crate::report::DescribedPeer;

/// What the bus was handling when effects came of it.
pub(super) enum Origin<'m> {
    /// Nothing that a peer sent. The daemon may have learned something for the bus and have
    /// descriptors that go with the answer.
    Bus { fds: Option<SharedFds> },
    /// A message.
    Peer {
        from: PeerId,
        /// Whether the sender does not flood.
        is_calm: bool,
        message: &'m Message<'m>,
        /// Where its bytes are.
        slice: &'m SharedSlice,
        fds: Option<SharedFds>,
    },
}

impl Origin<'_> {
    /// Whether a peer answers a call.
    const fn is_reply(&self) -> bool {
        matches!(self, Self::Peer { message, .. } if message.message_type().is_reply())
    }
}

/// Whether a queue is to be written once more.
pub(super) enum Flush {
    Done,
    Again,
}

/// Applying effects.
impl EventLoop {
    /// Carries out what the bus wants done. Where the bus asks something, it gets the answer before the
    /// next effect is applied, so that messages keep their order.
    pub(super) fn apply(&mut self, effects: &Effects, origin: &Origin<'_>) {
        self.begin_applying(effects, origin);
        for effect in effects.list() {
            match effect {
                Effect::OpenRing { call, request } => self.open_ring(*call, **request),
                Effect::Reload { caller } => self.reconfigure(Some(*caller)),
                Effect::ReadDetails { peer, call } => self.read_details(*peer, *call),
                Effect::Start { start, name } => self.start_service(*start, name),
                effect => self.apply_final(effect, effects, origin),
            }
        }
    }

    /// Gives the bus the answer to an effect, and applies what comes of it. `fds` go with the reply
    /// that the answer causes. The bus asks nothing about answers.
    pub(super) fn answer(&mut self, input: Input<'_>, fds: Option<SharedFds>) {
        let mut effects = mem::take(&mut self.buffers.effects_of_answers);
        effects.clear();
        self.bus.handle(self.time(), input, &mut effects);
        let origin = Origin::Bus { fds };
        self.begin_applying(&effects, &origin);
        effects.list().iter().for_each(|effect| self.apply_final(effect, &effects, &origin));
        self.buffers.effects_of_answers = effects;
    }

    #[inline]
    fn begin_applying(&mut self, effects: &Effects, origin: &Origin<'_>) {
        if !effects.traced().is_empty() {
            self.trace(effects, origin);
        }
        self.buffers.copied += effects.bytes_len() as u64;
    }

    /// Applies an effect that the bus wants no answer to. This queues messages and marks connections;
    /// nothing is written.
    #[inline]
    fn apply_final(&mut self, effect: &Effect, effects: &Effects, origin: &Origin<'_>) {
        match effect {
            Effect::Send(delivery) => self.send(delivery, effects, origin),
            Effect::Disconnect { peer, reason } => self.end(*peer, End::Bus(*reason)),
            Effect::Log(event) => self.log_event(event),
            Effect::CloseRing { peer } => self.traces.end(*peer),
            Effect::Abandon { start } => self.abandon(*start),
            Effect::HoldFds(held) => self.hold_fds(*held, origin),
            Effect::ReleaseFds(held) => self.release_fds(*held),
            Effect::OpenRing { .. }
            | Effect::Reload { .. }
            | Effect::ReadDetails { .. }
            | Effect::Start { .. } => unreachable!("the bus asks nothing about answers"),
        }
    }

    /// Writes the queues that became long. This waits until all effects of an input are applied: a
    /// write that fails causes an error, which must not overtake the other messages of that input.
    #[inline]
    pub(super) fn write_long_queues(&mut self) {
        while let Some(peer) = self.work.long.pop() {
            self.flush_one(peer);
        }
    }

    /// Puts a message into the queue of its recipient.
    fn send(&mut self, delivery: &Delivery, effects: &Effects, origin: &Origin<'_>) {
        let fds = self.fds_of(delivery, origin);
        let Self { table, bus, poller, buffers, work, interactive, now, .. } = self;
        let Some(connection) = table.get_mut(delivery.to) else { return };
        let (from, body) = body_of(delivery, origin, connection.writing);
        let charge = connection.charge_for(origin.is_reply());
        let head = effects.bytes(delivery.head);
        let fd_count = fds.as_ref().map_or(0, |fds| fds.len() as u32);
        let load = Load { bytes: head.len() + body.len(), fds: fd_count };
        buffers.copied += match body {
            OutgoingBody::Bytes(_) => load.bytes as u64,
            OutgoingBody::Shared(_) => head.len() as u64,
        };
        let message = Outgoing { from, head, body, fds };
        let Queued { is_flowing, is_newly_dirty, is_long } =
            connection.enqueue(message, charge, *now, &mut buffers.spare);
        if matches!(origin, Origin::Peer { is_calm: true, .. }) && !connection.budget.is_flood() {
            interactive.goes_on(*now);
        }
        work.reached_ready |= is_flowing && charge != Charge::Never;
        if is_newly_dirty {
            work.mark(delivery.to, delivery.urgency);
        }
        if is_long {
            work.long.push(delivery.to);
        }
        let is_held =
            delivery.urgency == Urgency::Awaited && connection.sent.is_over(&connection.limits);
        let watched = match is_held {
            // It may have to answer now, so that it may no longer be held.
            true => watch(connection, poller, bus, *now),
            false => Ok(()),
        };
        if let Err(error) = watched {
            self.unwatched(delivery.to, error);
        }
        if let (Charge::OnSender, Some(from)) = (charge, from) {
            self.charge_sender(from, load);
        }
        if fd_count > 0 && !is_flowing {
            self.watch_time(delivery.to);
        }
    }

    fn fds_of(&self, delivery: &Delivery, origin: &Origin<'_>) -> Option<SharedFds> {
        match (delivery.fds, origin) {
            (Fds::None, _) => None,
            (Fds::OfInput, Origin::Peer { fds, .. })
            | (Fds::OfProcess(_) | Fds::OfRing | Fds::OfRecorder, Origin::Bus { fds }) => {
                fds.clone()
            }
            (Fds::Held(held), _) => self.held_fds.get(&held).cloned(),
            (
                Fds::OfInput | Fds::OfProcess(_) | Fds::OfRing | Fds::OfRecorder,
                Origin::Bus { .. } | Origin::Peer { .. },
            ) => None,
        }
    }
}

/// Writing queues.
impl EventLoop {
    /// Writes to every connection that has something queued, once.
    pub(super) fn flush(&mut self) {
        while !self.work.awaited.is_empty() || !self.work.passing.is_empty() {
            let mut awaited = mem::take(&mut self.work.awaited);
            awaited.drain(..).for_each(|peer| self.flush_one(peer));
            self.keep_list(awaited, |work| &mut work.awaited);
            let mut passing = mem::take(&mut self.work.passing);
            passing.drain(..).for_each(|peer| self.flush_one(peer));
            self.keep_list(passing, |work| &mut work.passing);
        }
    }

    /// Gives an empty list back its place, unless it was filled again in the meantime.
    fn keep_list(&mut self, list: Vec<PeerId>, place: fn(&mut super::Work) -> &mut Vec<PeerId>) {
        let place = place(&mut self.work);
        if place.is_empty() {
            *place = list;
        }
    }

    /// Writes what is queued for one connection, as far as its socket takes it. The bus learns what
    /// has left; what it wants done about that is applied at the end.
    pub(super) fn flush_one(&mut self, peer: PeerId) {
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
        self.apply(&effects, &Origin::Bus { fds: None });
        effects.clear();
        self.buffers.effects_of_writes = effects;
    }

    fn flush_once(&mut self, peer: PeerId) -> Flush {
        let time = self.time();
        let Self { table, bus, poller, user_fds, buffers, traces, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return Flush::Done };
        let fds_max = match connection.queue.has_fds() {
            true => back_pressure::allowance(connection, bus, user_fds),
            false => u64::MAX,
        };
        let left = connection.queue.left();
        let released = &mut buffers.released;
        let release = |from, load| released.add(from, load);
        let Progress { written, moved, outcome } =
            connection.write(fds_max, *now, &mut buffers.spare, release);
        buffers.copied += moved;
        if written.bytes > 0 {
            if left < connection.traced_end && left < connection.queue.left() {
                traces.written(bus.recipient_number(peer), connection.queue.left());
            }
            if written.fds > 0 {
                back_pressure::note_fds_written(connection, bus, user_fds, written.fds);
            }
            let copied = mem::take(&mut buffers.copied);
            let input = Input::Written { to: peer, amount: written, copied };
            bus.handle(time, input, &mut buffers.effects_of_writes);
        }
        if let (Outcome::Empty, true) = (&outcome, connection.writing.is_flowing()) {
            if let Err(error) = watch(connection, poller, bus, *now) {
                self.unwatched(peer, error);
            }
            return Flush::Done;
        }
        self.write_ended(peer, written.bytes, outcome)
    }

    /// Does what a write calls for that has not emptied the queue of a connection whose socket takes
    /// everything.
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

    /// The other end of a connection is gone.
    fn left(&mut self, peer: PeerId) {
        if let Some(connection) = self.table.get(peer) {
            let end = connection.left();
            self.end(peer, end);
        }
    }

    /// The peer is gone. What it sent before is read to the end first, in later turns if it may
    /// not be read now.
    pub(super) fn hung_up(&mut self, peer: PeerId) {
        let may_read = self.may_read(peer);
        let Some(connection) = self.table.get_mut(peer) else { return };
        if !connection.has_backlog() && may_read {
            // It may not have been watched for reading, so there may still be something.
            self.receive(peer);
        } else if connection.watched.take().is_some() {
            // Otherwise every wait would report it.
            let _ = self.poller.remove(&connection.socket);
        }
    }

    /// Tells the poller what is wanted of a connection now, if that has changed.
    pub(super) fn update_interest(&mut self, peer: PeerId) {
        let Self { table, bus, poller, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return };
        if let Err(error) = watch(connection, poller, bus, *now) {
            self.unwatched(peer, error);
        }
    }

    /// The poller cannot watch a connection, so it ends.
    #[cold]
    fn unwatched(&mut self, peer: PeerId, error: io::Error) {
        self.fault(Fault::UnwatchedConnection(error));
        self.end(peer, End::Unwatched);
    }
}

/// Tells the poller what is wanted of a connection now, if that has changed.
#[inline]
fn watch(connection: &mut Connection, poller: &Poller, bus: &Bus, now: Duration) -> io::Result<()> {
    let may_read = !back_pressure::is_unread(connection, bus, now);
    connection.watch(poller, Source::Peer(connection.peer).token(), may_read)
}

/// Configuration, log and ends of connections.
impl EventLoop {
    /// Applies changed limits to a connection.
    pub(super) fn limits_changed(&mut self, peer: PeerId) {
        let limits = self.framer_limits();
        let own = Limits::within(self.bus.limits_of(peer));
        if let Some(connection) = self.table.get_mut(peer) {
            connection.limits = own;
            if let Phase::Messages(stream) = &mut connection.phase {
                stream.framer.set_limits(limits);
            }
        }
        self.update_interest(peer);
    }

    fn log_event(&mut self, event: &LogEvent) {
        if let LogEvent::BecameMonitor { peer } = event
            && let Some(connection) = self.table.get_mut(*peer)
        {
            connection.role = Role::Monitor;
        }
        if self.traces.is_on() {
            self.trace_event(event);
        }
        let described = self.reporter.event(&self.log, &self.bus, &self.children, event, self.now);
        self.describe(described);
    }

    /// Notes what a process is called, if the log has looked it up.
    pub(super) fn describe(&mut self, described: Option<DescribedPeer>) {
        self.watch_log();
        if let Some(DescribedPeer { peer, process }) = described {
            self.bus.describe(peer, process);
        }
    }

    /// Sees to it that the log reports in time how many lines it left out.
    pub(super) fn watch_log(&mut self) {
        if let Some(due) = self.reporter.due() {
            self.alarm.no_later_than(due);
        }
    }

    /// Closes the connections that have ended, and those that end by that.
    pub(super) fn close_ended(&mut self) {
        while !self.work.ended.is_empty() {
            for peer in mem::take(&mut self.work.ended) {
                self.close(peer);
            }
            self.flush();
        }
    }

    fn close(&mut self, peer: PeerId) {
        let Some(connection) = self.table.get(peer) else { return };
        let end = connection.end.unwrap_or(End::Closed);
        if end != End::Closed {
            let described = self.reporter.end(&self.log, &self.bus, peer, &end, self.now);
            self.describe(described);
        }
        if self.traces.is_on() {
            self.trace_left(peer, &end);
        }
        let user = back_pressure::kernel_user(&self.bus, peer);
        let Some(mut connection) = self.table.remove(peer) else { return };
        let released = &mut self.buffers.released;
        connection.queue.set_charges(Charge::Free, |from, load| released.add(from, load));
        self.close_socket(*connection, user);
        self.note_closed();
        self.note_freed();
        self.release_senders();
        self.handle(Input::Disconnected { peer, end });
    }
}

/// Whose message it is, and its body.
fn body_of<'m>(
    delivery: &Delivery,
    origin: &Origin<'m>,
    writing: Writing,
) -> (Option<PeerId>, OutgoingBody<'m>) {
    match (delivery.body, origin) {
        (Body::OfInput, Origin::Peer { from, message, slice, .. }) => {
            let is_shared = match slice.backing {
                Backing::Owned => true,
                // What has to wait cannot be lent.
                Backing::Scratch => writing.is_flowing() && message.body().len() >= LENT_BODY_MIN,
            };
            let body = if is_shared {
                let start = slice.range.start + message.header_bytes().len();
                let range = start..slice.range.end;
                let memory = Rc::clone(&slice.memory);
                OutgoingBody::Shared(SharedSlice { memory, range, backing: slice.backing })
            } else {
                OutgoingBody::Bytes(message.body())
            };
            (Some(*from), body)
        }
        _ => (None, OutgoingBody::Bytes(&[])),
    }
}

/// Bytes from which on a body is not copied to each recipient's queue, but written from where it
/// was read to. A second slice costs a write as much as some hundred bytes do, and what is written
/// together makes the fewest wake-ups while it is small.
const LENT_BODY_MIN: usize = 4096;
