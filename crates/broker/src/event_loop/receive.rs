//! From sockets to the bus.

use std::mem;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Bus, FdPassing, Input, PeerId};
use sys::transfer::{Descriptors, Received};
use wire::Message;
use wire::framer::{self, Framer};
use wire::message::InvalidMessage;
use wire::sasl::server::{Identity, Progress, Rejection, Violation};

use super::deliver::Origin;
use super::{Buffers, EventLoop, SCRATCH_LEN, back_pressure};
use crate::back_pressure::Limits;
use crate::connection::{Claim, End, Handshake, MessageStream, Parked, Phase};
use crate::login::WrongNonce;

/// How a connection ends that was rejected and whose `BEGIN` was under way: clients send it along with
/// their first attempt to save a round trip. If they only asked for a mechanism that this bus does not
/// offer, they connect again with another one, so it is not worth a line in the log.
const fn end_after(rejection: Rejection) -> End {
    match rejection {
        Rejection::NotOffered => End::Closed,
        Rejection::NotAccepted => End::Rejected,
    }
}

impl EventLoop {
    /// Reads once from a connection and handles what came.
    pub(super) fn receive(&mut self, peer: PeerId) {
        let mut scratch = self.take_scratch();
        if let Err(end) = self.receive_into(peer, &mut scratch) {
            self.end(peer, end);
        }
        self.buffers.scratch.push(scratch);
    }

    /// A scratch buffer of which no part is lent to a queue.
    fn take_scratch(&mut self) -> Rc<Vec<u8>> {
        self.buffers.take_free_scratch().unwrap_or_else(|| {
            // All of them are lent. Mostly the queues only have to be written, while the bytes are
            // still in the processor's cache.
            self.flush();
            self.buffers.take_free_scratch().unwrap_or_else(|| self.more_scratch())
        })
    }

    /// Another scratch buffer. If there are many, one is asked back from queues that are not read.
    fn more_scratch(&mut self) -> Rc<Vec<u8>> {
        if self.buffers.scratch.len() >= SCRATCH_BUFFERS_MAX {
            for &peer in &self.work.timed {
                if let Some(connection) = self.table.get_mut(peer) {
                    connection.queue.return_lent();
                }
            }
        }
        let free = self.buffers.take_free_scratch();
        free.unwrap_or_else(|| Rc::new(vec![0; SCRATCH_LEN]))
    }

    fn receive_into(&mut self, peer: PeerId, buffer: &mut Rc<Vec<u8>>) -> Result<(), End> {
        let scratch = Rc::get_mut(buffer).expect("no part of it is lent");
        let Self { table, bus, buffers, traces, fd_quotas, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return Ok(()) };
        if connection.end.is_some()
            || connection.has_backlog()
            || back_pressure::is_unread(connection, bus, *now)
        {
            return Ok(());
        }
        let Some(received) = connection.read(scratch, &mut buffers.fds)? else { return Ok(()) };
        match &mut connection.phase {
            Phase::Handshake(_) => self.handshake(peer, &mut scratch[..received.bytes]),
            Phase::Messages(stream) => {
                let bytes = received.bytes;
                if let Some(active) = traces.active() {
                    stream.read = active.read(*now);
                }
                let user = kernel_user_of(bus, peer, &buffers.fds);
                stream.received(received, &mut buffers.fds, user, fd_quotas);
                self.route_messages(peer, buffer, Some(bytes))
            }
        }
    }

    /// Takes a chunk of the handshake, and what follows it.
    fn handshake(&mut self, peer: PeerId, chunk: &mut [u8]) -> Result<(), End> {
        let Self { table, authority, buffers, work, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return Ok(()) };
        let Phase::Handshake(Handshake { login, .. }) = &mut connection.phase else {
            return Ok(());
        };
        let chunk = login.take_nonce(chunk).map_err(|WrongNonce| End::WrongNonce)?;
        let mut answer = Vec::new();
        let now_unix = sys::clock::realtime().as_secs();
        let progress = login.server.receive(chunk, now_unix, authority, &mut answer);
        let rejected = login.server.rejection().map(end_after);
        if connection.enqueue_lines(&answer, &mut buffers.spare).is_newly_dirty {
            work.awaited.push(peer);
        }
        let end = |violation| match violation {
            Violation::BeginBeforeOk { .. } => rejected.unwrap_or(End::Handshake(violation)),
            _ => End::Handshake(violation),
        };
        match progress.map_err(end)? {
            Progress::NeedMore if self.buffers.fds.is_empty() => Ok(()),
            Progress::NeedMore => {
                self.buffers.fds.clear();
                Err(End::UnexpectedFds)
            }
            Progress::Done { consumed, identity, fds } => {
                let fds = match fds {
                    wire::sasl::FdPassing::Agreed => FdPassing::Agreed,
                    wire::sasl::FdPassing::Off => FdPassing::Refused,
                };
                self.authenticated(peer, identity, fds)?;
                self.start_messages(peer, &chunk[consumed..]);
                Ok(())
            }
        }
    }

    fn authenticated(
        &mut self,
        peer: PeerId,
        identity: Identity,
        fds: FdPassing,
    ) -> Result<(), End> {
        let uid = match identity {
            Identity::Uid(uid) => Some(uid),
            _ => None,
        };
        self.admit(peer, uid)?;
        self.handle(Input::Authenticated { peer, uid, fds });
        Ok(())
    }

    /// Goes on with messages. The first may have come with the end of the handshake.
    fn start_messages(&mut self, peer: PeerId, rest: &[u8]) {
        let framer_limits = self.framer_limits();
        let Self { table, bus, buffers, traces, fd_quotas, work, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return };
        connection.limits = Limits::within(bus.limits_of(peer));
        let mut framer = Framer::new(framer_limits);
        framer.keep(rest);
        let mut stream = MessageStream::new(framer);
        if let Some(active) = traces.active() {
            stream.read = active.read(*now);
        }
        let user = kernel_user_of(bus, peer, &buffers.fds);
        let nothing = Received { bytes: 0, descriptors: Descriptors::Complete };
        stream.received(nothing, &mut buffers.fds, user, fd_quotas);
        stream.has_backlog = !rest.is_empty();
        if stream.has_backlog {
            work.backlog.push_back(peer);
        }
        connection.phase = Phase::Messages(stream);
    }

    pub(super) fn framer_limits(&self) -> framer::Limits {
        let limits = &self.bus.configuration().limits;
        // What is passed on gets a SENDER, and must be valid with it too.
        let message_len_max = usize::try_from(limits.max_message_size)
            .unwrap_or(usize::MAX)
            .min(wire::limits::FORWARDED_LEN_MAX);
        let message_fds_max = u32::try_from(limits.max_message_unix_fds).unwrap_or(u32::MAX);
        framer::Limits { message_len_max, message_fds_max }
    }

    /// Goes on with messages that were read in an earlier turn.
    pub(super) fn receive_backlog(&mut self, peer: PeerId) {
        let mut scratch = self.take_scratch();
        if let Err(end) = self.resume(peer, &mut scratch) {
            self.end(peer, end);
        }
        self.buffers.scratch.push(scratch);
    }

    fn resume(&mut self, peer: PeerId, scratch: &mut Rc<Vec<u8>>) -> Result<(), End> {
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let Phase::Messages(stream) = &mut connection.phase else { return Ok(()) };
        stream.has_backlog = false;
        if let Some(active) = self.traces.active() {
            active.resume(stream.read);
        }
        stream.framer.unpark(Rc::get_mut(scratch).expect("no part of it is lent"));
        self.route_messages(peer, scratch, None)
    }

    /// Routes the messages of a connection that are in the scratch buffer, within the budget. If they
    /// were read just now, `received` is how many bytes were.
    fn route_messages(
        &mut self,
        peer: PeerId,
        scratch: &Rc<Vec<u8>>,
        received: Option<usize>,
    ) -> Result<(), End> {
        let Some(connection) = self.table.get(peer) else { return Ok(()) };
        let mut routed = 0;
        self.work.reached_ready = false;
        for _ in 0..self.interactive.messages_of(connection.budget, self.now) {
            match self.route_next(peer, scratch).map_err(End::Invalid)? {
                Some(len) => routed += len,
                None => break,
            }
        }
        self.finish_reading(peer, scratch, routed, received);
        Ok(())
    }

    /// Routes the next message of a connection, if there is a complete one. Returns its length.
    #[inline]
    fn route_next(
        &mut self,
        from: PeerId,
        scratch: &Rc<Vec<u8>>,
    ) -> Result<Option<usize>, InvalidMessage> {
        let Some(connection) = self.table.get_mut(from) else { return Ok(None) };
        let Phase::Messages(stream) = &mut connection.phase else { return Ok(None) };
        if connection.end.is_some() {
            return Ok(None);
        }
        let Some(slice) = stream.next_message(scratch)? else { return Ok(None) };
        if let Some(active) = self.traces.active() {
            active.routing_begins();
        }
        let message = Message::parse(slice.bytes())?;
        let (input, fds) = match stream.claim_fds(&message)? {
            Claim::Complete(fds) => (Input::Message { from, message }, fds),
            Claim::Lost => (Input::DescriptorsLost { from, message }, None),
        };
        let is_calm = !connection.budget.is_flood();
        let mut effects = mem::take(&mut self.buffers.effects);
        effects.clear();
        self.bus.handle(self.time(), input, &mut effects);
        let slice = &slice;
        self.apply(&effects, &Origin::Peer { from, is_calm, message: &message, slice, fds });
        self.buffers.effects = effects;
        self.write_long_queues();
        Ok(Some(slice.range.len()))
    }

    /// Leaves the scratch buffer to the next connection, and remembers if there is more to do.
    fn finish_reading(
        &mut self,
        peer: PeerId,
        scratch: &[u8],
        routed: usize,
        received: Option<usize>,
    ) {
        let Self { table, work, buffers, now, .. } = self;
        let Some(connection) = table.get_mut(peer) else { return };
        let Phase::Messages(stream) = &mut connection.phase else { return };
        let Parked { has_more, fds_begin_to_wait, moved } = stream.park(scratch, *now);
        buffers.copied += moved;
        if has_more {
            stream.has_backlog = true;
            work.backlog.push_back(peer);
            connection.budget.had_enough(routed);
        } else if let Some(received) = received {
            connection.budget.took_all(received);
        }
        if work.reached_ready {
            connection.sent.ready_at = *now;
            if connection.sent.is_over(&connection.limits) {
                self.update_interest(peer);
            }
        }
        if fds_begin_to_wait {
            self.watch_time(peer);
        }
    }
}

/// The user that the kernel named, if descriptors have to be put on its account.
fn kernel_user_of(bus: &Bus, peer: PeerId, fds: &[OwnedFd]) -> Option<u32> {
    if fds.is_empty() { None } else { back_pressure::kernel_user(bus, peer) }
}

impl Buffers {
    fn take_free_scratch(&mut self) -> Option<Rc<Vec<u8>>> {
        let free = self.scratch.iter().position(|scratch| Rc::strong_count(scratch) == 1)?;
        Some(self.scratch.swap_remove(free))
    }
}

/// Scratch buffers that may be lent at once.
const SCRATCH_BUFFERS_MAX: usize = 4;
