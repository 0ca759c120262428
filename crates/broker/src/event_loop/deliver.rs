//! From the bus to sockets.

use std::mem;
use std::os::fd::AsFd;
use std::rc::Rc;

use bus::{
    Body, Delivery, DisconnectReason, Effect, Effects, Fds, Input, LogEvent, PeerId, Urgency,
};
use sys::poll::Interest;
use wire::Message;

use super::back_pressure;
use super::{EventLoop, Source};
use crate::back_pressure::{Limits, Writing};
use crate::connection::{End, Phase, Role};
use crate::fault::Fault;
use crate::outgoing::{
    Charge, Load, Outcome, Outgoing, OutgoingBody, Progress, SharedFds, Stretch, Tenure,
};
use crate::report::DescribedPeer;

/// What the bus was handling when effects came of it.
pub(super) enum Origin<'m> {
    /// Nothing that a peer sent.
    Bus,
    /// A message.
    Peer {
        from: PeerId,
        /// Whether that one does not flood.
        is_calm: bool,
        message: &'m Message<'m>,
        /// Where its bytes are.
        stretch: &'m Stretch,
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

impl EventLoop {
    /// Carries out what the bus wants done.
    pub(super) fn apply(&mut self, effects: &Effects, origin: &Origin<'_>) {
        if !effects.traced().is_empty() {
            self.trace(effects, origin);
        }
        self.buffers.copied += effects.bytes_len() as u64;
        for effect in effects.list() {
            match effect {
                Effect::Send(delivery) => self.send(delivery, effects, origin),
                Effect::Disconnect { peer, reason } => self.disconnect(*peer, *reason),
                Effect::Log(event) => self.log_event(event),
                Effect::OpenRing { call, request } => self.open_ring(*call, **request),
                Effect::CloseRing { peer } => self.traces.end(*peer),
                Effect::Reload { caller } => self.reconfigure(Some(*caller)),
                Effect::ReadDetails { peer, call } => self.read_details(*peer, *call),
                Effect::Start { start, name } => self.start_service(*start, name),
                Effect::Abandon { start } => self.abandon(*start),
                Effect::HoldFds(held) => self.hold_fds(*held, origin),
                Effect::ReleaseFds(held) => self.release_fds(*held),
            }
        }
        if !self.work.long.is_empty() {
            self.flush_long();
        }
    }

    /// Writes the queues that became long. This waits until all effects of an input are applied: a
    /// write that fails causes an error, which must not overtake the other messages of that input.
    #[cold]
    fn flush_long(&mut self) {
        for peer in mem::take(&mut self.work.long) {
            self.flush_one(peer);
        }
    }

    fn send(&mut self, delivery: &Delivery, effects: &Effects, origin: &Origin<'_>) {
        let fds = self.fds_of(delivery, origin);
        let Some(connection) = self.table.get_mut(delivery.to) else { return };
        let (from, body) = body_of(delivery, origin, connection.writing);
        let charge = connection.charge_for(origin.is_reply());
        let head = effects.bytes(delivery.head);
        let fd_count = fds.as_ref().map_or(0, |fds| fds.len() as u32);
        let load = Load { bytes: head.len() + body.len(), fds: fd_count };
        self.buffers.copied += match body {
            OutgoingBody::Bytes(_) => load.bytes as u64,
            OutgoingBody::Shared(_) => head.len() as u64,
        };
        if fd_count > 0 && !connection.queue.has_fds() {
            connection.took_some(self.now);
        }
        let message = Outgoing { from, head, body, fds };
        connection.queue.push(message, charge, &mut self.buffers.spare);
        if matches!(origin, Origin::Peer { is_calm: true, .. }) && !connection.appetite.is_flood() {
            self.conversation.goes_on(self.now);
        }
        let is_flowing = connection.writing.is_flowing();
        let is_long = connection.queue.len() > EARLY_FLUSH && is_flowing;
        let is_held =
            delivery.urgency == Urgency::Awaited && connection.sent.is_over(&connection.limits);
        self.work.reached_ready |= is_flowing && charge != Charge::Never;
        match delivery.urgency {
            Urgency::Awaited => self.mark_awaited(delivery.to),
            Urgency::Passing => self.mark_passing(delivery.to),
        }
        if let (Charge::OnSender, Some(from)) = (charge, from) {
            self.charge_sender(from, load);
        }
        if fd_count > 0 && !is_flowing {
            self.watch_time(delivery.to);
        }
        if is_held {
            // It may have to answer now, so that it may no longer be held.
            self.update_interest(delivery.to);
        }
        if is_long {
            self.work.long.push(delivery.to);
        }
    }

    fn fds_of(&self, delivery: &Delivery, origin: &Origin<'_>) -> Option<SharedFds> {
        match (delivery.fds, origin) {
            (Fds::OfInput, Origin::Peer { fds, .. }) => fds.clone(),
            (Fds::OfProcess(peer), _) => self.table.get(peer)?.pidfd.clone(),
            (Fds::OfRing | Fds::OfRecorder, _) => self.traces.lent.clone(),
            (Fds::Held(held), _) => self.held_fds.get(&held).cloned(),
            _ => None,
        }
    }

    pub(super) fn mark_awaited(&mut self, peer: PeerId) {
        if let Some(connection) = self.table.get_mut(peer)
            && connection.writing.is_flowing()
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.work.awaited.push(peer);
        }
    }

    fn mark_passing(&mut self, peer: PeerId) {
        if let Some(connection) = self.table.get_mut(peer)
            && connection.writing.is_flowing()
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.work.passing.push(peer);
        }
    }

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

    /// Gives an empty list back its place, unless it was filled again meanwhile.
    fn keep_list(&mut self, list: Vec<PeerId>, place: fn(&mut super::Work) -> &mut Vec<PeerId>) {
        let place = place(&mut self.work);
        if place.is_empty() {
            *place = list;
        }
    }

    /// Writes what is queued for one connection, as far as its socket takes it.
    fn flush_one(&mut self, peer: PeerId) {
        while let Flush::Again = self.flush_once(peer) {}
        self.release_senders();
    }

    fn flush_once(&mut self, peer: PeerId) -> Flush {
        let Self { table, bus, user_fds, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return Flush::Done };
        connection.is_dirty = false;
        let fds_max = if connection.queue.has_fds() {
            let (own, wanted) = (connection.fds_in_kernel.count(), connection.queue.fds_of_first());
            user_fds.allowance(back_pressure::kernel_user(bus, peer), own, wanted)
        } else {
            u64::MAX
        };
        let released = &mut self.buffers.released;
        let socket = connection.socket.as_fd();
        let release = |from, load| released.add(from, load);
        let spare = &mut self.buffers.spare;
        let left = connection.queue.left();
        let Progress { written, moved, outcome } =
            connection.queue.write_to(socket, fds_max, spare, release);
        self.buffers.copied += moved;
        if written.bytes > 0 {
            connection.took_some(self.now);
        }
        if left < connection.traced_end && left < connection.queue.left() {
            self.trace_written(peer);
        }
        if written.fds > 0 {
            self.fds_written(peer, written.fds);
        }
        if written.bytes > 0 {
            self.handle_written(peer, written);
        }
        match outcome {
            Outcome::Empty => self.unblocked(peer),
            Outcome::Blocked => self.blocked(peer, written.bytes),
            Outcome::Starved => self.starved(peer, written.bytes),
            Outcome::OverAllowance => return self.over_allowance(peer, written.bytes),
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

    fn handle_written(&mut self, to: PeerId, amount: bus::Amount) {
        let copied = mem::take(&mut self.buffers.copied);
        let input = Input::Written { to, amount, copied };
        let time = self.time();
        self.bus.handle(time, input, &mut self.buffers.effects_of_write);
        if !self.buffers.effects_of_write.is_empty() {
            let effects = mem::take(&mut self.buffers.effects_of_write);
            self.apply(&effects, &Origin::Bus);
        }
    }

    /// A socket that was full takes bytes again.
    pub(super) fn writable(&mut self, peer: PeerId) {
        self.flush_one(peer);
    }

    /// The peer is gone. What it sent before is read to the end first, in later turns if it may
    /// not be read now.
    pub(super) fn hung_up(&mut self, peer: PeerId) {
        let may_read = self.may_read(peer);
        let Some(connection) = self.table.get_mut(peer) else { return };
        if !connection.has_backlog && may_read {
            // It may not have been waited for to be readable, so there may still be something.
            self.receive(peer);
        } else if connection.watched.take().is_some() {
            // Otherwise every wait would report it.
            let _ = self.poller.remove(&connection.socket);
        }
    }

    /// Tells the poller what is wanted of a connection now, if that has changed.
    pub(super) fn update_interest(&mut self, peer: PeerId) {
        let Self { table, bus, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return };
        let wanted = connection.wanted_interest(!back_pressure::is_unread(connection, bus, *now));
        let token = Source::Peer(peer).token();
        let told = match (connection.watched, wanted) {
            (Some(watched), wanted) if wanted == watched => return,
            (Some(_), _) => self.poller.modify(&connection.socket, token, wanted),
            (None, Interest::Hangup) => return,
            (None, _) => self.poller.add(&connection.socket, token, wanted),
        };
        connection.watched = Some(wanted);
        if let Err(error) = told {
            self.fault(&Fault::UnwatchedConnection(error));
            self.end(peer, End::Unwatched);
        }
    }

    /// Applies changed limits to a connection.
    pub(super) fn limits_changed(&mut self, peer: PeerId) {
        let limits = self.framer_limits();
        let own = Limits::within(self.bus.limits_of(peer));
        if let Some(connection) = self.table.get_mut(peer) {
            connection.limits = own;
            if let Phase::Messages(framer) = &mut connection.phase {
                framer.set_limits(limits);
            }
        }
        self.update_interest(peer);
    }

    fn disconnect(&mut self, peer: PeerId, reason: DisconnectReason) {
        self.end(peer, End::Bus(reason));
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
        (Body::OfInput, Origin::Peer { from, message, stretch, .. }) => {
            let is_shared = match stretch.tenure {
                Tenure::Kept => true,
                // What has to wait cannot be lent.
                Tenure::Lent => writing.is_flowing() && message.body().len() >= LENT_BODY_MIN,
            };
            let body = if is_shared {
                let start = stretch.range.start + message.header_bytes().len();
                let range = start..stretch.range.end;
                let memory = Rc::clone(&stretch.memory);
                OutgoingBody::Shared(Stretch { memory, range, tenure: stretch.tenure })
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

/// Bytes in a queue that are written before the turn is over.
const EARLY_FLUSH: usize = 256 * 1024;
