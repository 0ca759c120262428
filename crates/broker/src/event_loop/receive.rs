//! From sockets to the bus.

use std::io;
use std::mem;
use std::os::fd::AsFd;
use std::rc::Rc;

use bus::{FdPassing, Input, PeerId};
use sys::transfer::{self, Descriptors, Received, Wait};
use wire::Message;
use wire::framer::{self, Frame, Framer, Space};
use wire::message::InvalidMessage;
use wire::sasl::server::{Identity, Progress, Rejection, Violation};

use super::back_pressure::kernel_user;
use super::deliver::Origin;
use super::{Buffers, EventLoop, SCRATCH_LEN};
use crate::back_pressure::Limits;
use crate::connection::{End, Phase};
use crate::fd_quota::QuotaReached;
use crate::login::WrongNonce;
use crate::outgoing::{SharedFds, Stretch, Tenure};

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
        let Some(connection) = self.table.get(peer) else { return };
        if connection.end.is_some() || connection.has_backlog || !self.may_read(peer) {
            return;
        }
        let mut scratch = self.take_scratch();
        if let Err(end) = self.receive_into(peer, &mut scratch) {
            self.end(peer, end);
        }
        self.buffers.scratch.push(scratch);
    }

    /// A scratch buffer of which no part is lent to a queue.
    fn take_scratch(&mut self) -> Rc<Vec<u8>> {
        self.buffers.take_free_scratch().unwrap_or_else(|| {
            // Mostly it takes no more than to write what was read before, while it is hot.
            self.flush();
            self.buffers.take_free_scratch().unwrap_or_else(|| self.more_scratch())
        })
    }

    /// One more scratch buffer, or if there are many, one that is asked back from those who do not
    /// take what is theirs.
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
        let scratch = Rc::get_mut(buffer).expect("nobody else has it");
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let portion = connection.appetite.portion();
        let space = match &mut connection.phase {
            Phase::Handshake(_) => Space::Scratch(scratch),
            Phase::Messages(framer) => framer.space(scratch),
        };
        let fds = &mut self.buffers.fds;
        let socket = connection.socket.as_fd();
        let received = match space {
            Space::Scratch(space) => {
                let room = space.len().min(portion);
                transfer::receive(socket, &mut space[..room], fds, Wait::Never)
            }
            Space::Large { buffer, room } => {
                transfer::receive_more(socket, buffer, room, fds, Wait::Never)
            }
        };
        let received = match received {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(_) => return Err(connection.left()),
        };
        if received.descriptors == Descriptors::Truncated {
            // Of some that came with one message, none is of use.
            fds.clear();
            if matches!(connection.phase, Phase::Handshake(_)) {
                return Err(End::FdsTruncated);
            }
        }
        if received.bytes == 0 {
            return Err(connection.left());
        }
        match &mut connection.phase {
            Phase::Handshake(_) => self.handshake(peer, &mut scratch[..received.bytes]),
            Phase::Messages(_) => {
                self.note_received(peer, received)?;
                self.route_messages(peer, buffer)?;
                self.note_taken(peer, received.bytes);
                Ok(())
            }
        }
    }

    fn note_taken(&mut self, peer: PeerId, received: usize) {
        if let Some(connection) = self.table.get_mut(peer)
            && !connection.has_backlog
        {
            connection.appetite.took_all(received);
        }
    }

    /// Puts what came on the account of the stream.
    fn note_received(&mut self, peer: PeerId, received: Received) -> Result<(), End> {
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let Phase::Messages(framer) = &mut connection.phase else { return Ok(()) };
        framer.received(received.bytes);
        if received.descriptors == Descriptors::Truncated {
            framer.lost_fds();
        }
        if let Some(active) = self.traces.active() {
            connection.read = active.read(self.now);
        }
        if !self.buffers.fds.is_empty() {
            let user = kernel_user(&self.bus, peer);
            let count = self.buffers.fds.len() as u32;
            match self.fd_quotas.take(user, &mut self.buffers.fds, &mut connection.fds) {
                Ok(()) => framer.received_fds(count),
                Err(QuotaReached) => framer.lost_fds(),
            }
        }
        Ok(())
    }

    /// Takes a chunk of the handshake, and what follows it.
    fn handshake(&mut self, peer: PeerId, chunk: &mut [u8]) -> Result<(), End> {
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let Phase::Handshake(login) = &mut connection.phase else { return Ok(()) };
        let chunk = login.take_nonce(chunk).map_err(|WrongNonce| End::WrongNonce)?;
        let mut answer = Vec::new();
        let now_unix = sys::clock::realtime().as_secs();
        let progress = login.server.receive(chunk, now_unix, &mut self.authority, &mut answer);
        let rejected = login.server.rejection().map(end_after);
        connection.queue.push_raw(&answer, &mut self.buffers.spare);
        self.mark_awaited(peer);
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
                self.start_messages(peer, &chunk[consumed..])
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
        let limits = Limits::within(self.bus.limits_of(peer));
        if let Some(connection) = self.table.get_mut(peer) {
            connection.limits = limits;
        }
        Ok(())
    }

    /// Goes on with messages, of which the first may have come with the end of the handshake.
    fn start_messages(&mut self, peer: PeerId, rest: &[u8]) -> Result<(), End> {
        let limits = self.framer_limits();
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let mut framer = Framer::new(limits);
        framer.keep(rest);
        connection.phase = Phase::Messages(framer);
        self.note_received(peer, Received { bytes: 0, descriptors: Descriptors::Complete })?;
        if !rest.is_empty() {
            self.add_backlog(peer);
        }
        Ok(())
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
        let Some(connection) = self.table.get_mut(peer) else { return };
        connection.has_backlog = false;
        let mut scratch = self.take_scratch();
        let Some(connection) = self.table.get_mut(peer) else { return };
        if let Some(active) = self.traces.active() {
            active.resume(connection.read);
        }
        let Phase::Messages(framer) = &mut connection.phase else { return };
        framer.unpark(Rc::get_mut(&mut scratch).expect("nobody else has it"));
        if let Err(end) = self.route_messages(peer, &scratch) {
            self.end(peer, end);
        }
        self.buffers.scratch.push(scratch);
    }

    fn add_backlog(&mut self, peer: PeerId) {
        if let Some(connection) = self.table.get_mut(peer)
            && !connection.has_backlog
        {
            connection.has_backlog = true;
            self.work.backlog.push_back(peer);
        }
    }

    /// Routes the messages of a connection that are in the scratch buffer, within the budget.
    fn route_messages(&mut self, peer: PeerId, scratch: &Rc<Vec<u8>>) -> Result<(), End> {
        let Some(connection) = self.table.get(peer) else { return Ok(()) };
        let mut routed = 0;
        self.work.reached_ready = false;
        for _ in 0..self.conversation.messages_of(connection.appetite, self.now) {
            match self.next_frame(peer, scratch) {
                Ok(Some(frame)) => {
                    let stretch = stretch_of(frame, scratch);
                    routed += stretch.range.len();
                    self.route(peer, &stretch).map_err(End::Invalid)?;
                }
                Ok(None) => break,
                Err(error) => return Err(End::Invalid(error)),
            }
        }
        self.park(peer, scratch)?;
        self.note_ready(peer);
        if let Some(connection) = self.table.get_mut(peer) {
            if let Phase::Messages(framer) = &mut connection.phase {
                self.buffers.copied += framer.take_moved();
            }
            if connection.has_backlog {
                connection.appetite.had_enough(routed);
            }
        }
        Ok(())
    }

    fn next_frame<'s>(
        &mut self,
        peer: PeerId,
        scratch: &'s [u8],
    ) -> Result<Option<Frame<'s>>, InvalidMessage> {
        match self.table.get_mut(peer) {
            Some(connection) if connection.end.is_none() => match &mut connection.phase {
                Phase::Messages(framer) => framer.next(scratch),
                Phase::Handshake(_) => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Gives one message to the bus and carries out what comes of it.
    fn route(&mut self, from: PeerId, stretch: &Stretch) -> Result<(), InvalidMessage> {
        if let Some(active) = self.traces.active() {
            active.routing_begins();
        }
        let message = Message::parse(stretch.bytes())?;
        let claim = self.claim_fds(from, &message)?;
        let mut effects = mem::take(&mut self.buffers.effects);
        effects.clear();
        let (input, fds) = match claim {
            Claim::Complete(fds) => (Input::Message { from, message }, fds),
            Claim::Lost => (Input::DescriptorsLost { from, message }, None),
        };
        self.bus.handle(self.time(), input, &mut effects);
        let is_calm = self.is_calm(from);
        self.apply(&effects, &Origin::Peer { from, is_calm, message: &message, stretch, fds });
        self.buffers.effects = effects;
        Ok(())
    }

    /// Takes the descriptors that belong to a message out of those that came.
    fn claim_fds(&mut self, from: PeerId, message: &Message<'_>) -> Result<Claim, InvalidMessage> {
        let none = Claim::Complete(None);
        let Some(connection) = self.table.get_mut(from) else { return Ok(none) };
        let Phase::Messages(framer) = &mut connection.phase else { return Ok(none) };
        if let Some(count) = framer.take_incomplete(message) {
            connection.fds.drain(..count as usize);
            return Ok(Claim::Lost);
        }
        let count = framer.claim_fds(message)? as usize;
        if count == 0 {
            return Ok(none);
        }
        connection.fds_since = None;
        Ok(Claim::Complete(Some(connection.fds.drain(..count).collect())))
    }

    /// Leaves the scratch buffer to the next connection, and remembers if there is more to do.
    fn park(&mut self, peer: PeerId, scratch: &[u8]) -> Result<(), End> {
        let now = self.now;
        let Some(connection) = self.table.get_mut(peer) else { return Ok(()) };
        let Phase::Messages(framer) = &mut connection.phase else { return Ok(()) };
        let has_more = framer.has_message(scratch);
        framer.park(scratch);
        if connection.fds.is_empty() {
            connection.fds_since = None;
        } else if connection.fds_since.is_none() {
            connection.fds_since = Some(now);
            self.watch_time(peer);
        }
        if has_more {
            self.add_backlog(peer);
        }
        Ok(())
    }
}

/// The descriptors of a message.
enum Claim {
    /// All that it announces, if it announces any.
    Complete(Option<SharedFds>),
    /// This process had no room for them.
    Lost,
}

/// Where the bytes of a message are.
fn stretch_of(frame: Frame<'_>, scratch: &Rc<Vec<u8>>) -> Stretch {
    match frame {
        Frame::Scratch(bytes) => {
            let start = bytes.as_ptr().addr() - scratch.as_ptr().addr();
            let range = start..start + bytes.len();
            Stretch { memory: Rc::clone(scratch), range, tenure: Tenure::Lent }
        }
        Frame::Owned(bytes) => {
            let range = 0..bytes.len();
            Stretch { memory: Rc::new(bytes), range, tenure: Tenure::Kept }
        }
    }
}

impl Buffers {
    fn take_free_scratch(&mut self) -> Option<Rc<Vec<u8>>> {
        let free = self.scratch.iter().position(|scratch| Rc::strong_count(scratch) == 1)?;
        Some(self.scratch.swap_remove(free))
    }
}

/// Scratch buffers that may be lent at once.
const SCRATCH_BUFFERS_MAX: usize = 4;
