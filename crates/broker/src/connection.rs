//! One connection: its socket, what was read from it, and what is queued for it.
//!
//! A connection does its own work and returns small results. The event loop decides when.

use std::io;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

pub(crate) use bus::End;
use bus::PeerId;
use sys::poll::{Interest, Poller};
use sys::transfer::{self, DescriptorDelivery, ReceiveOutcome, TransferWait};
use wire::Message;
use wire::framer::{Frame, Framer, Space};
use wire::message::InvalidMessage;

use crate::back_pressure::{Backlog, HoldLimits, Load, Writing};
use crate::fd_quota::{CountedFd, FdQuotas, QuotaReached};
use crate::fds_in_kernel::FdsInKernel;
use crate::login::PeerLogin;
use crate::outgoing::{
    Backing, Charge, Outgoing, SharedFds, SharedSlice, Spare, WriteProgress, WriteQueue,
};
use crate::read_budget::ReadBudget;

/// What the next bytes from a connection are.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Lines of the handshake.
    Handshake(Handshake),
    /// Messages.
    Messages(MessageStream),
}

/// A connection that authenticates.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) login: Box<PeerLogin>,
    /// When it is read first, if its user connects too often.
    pub(crate) served_at: Option<Duration>,
}

/// What was read from a connection that has authenticated.
#[derive(Debug)]
pub(crate) struct MessageStream {
    pub(crate) framer: Framer,
    /// Descriptors that were received, in order, and belong to messages that are not complete.
    fds: Vec<CountedFd>,
    /// When descriptors began to wait for their message.
    fds_since: Option<Duration>,
    /// When the bus last read, while a trace runs.
    pub(crate) read: ReadTimes,
    /// Whether messages that were read wait for their turn.
    pub(crate) has_backlog: bool,
}

/// The descriptors of a message.
pub(crate) enum DescriptorClaim {
    /// All that the message announces, if it announces any.
    Complete(Option<SharedFds>),
    /// This process had no room for them.
    Lost,
}

impl MessageStream {
    pub(crate) fn new(framer: Framer) -> Self {
        let (fds, read) = (Vec::new(), ReadTimes { from: 0, until: None });
        Self { framer, fds, fds_since: None, read, has_backlog: false }
    }

    /// Counts what was read. Descriptors are taken from `fds`, on the account of `user`.
    pub(crate) fn received(
        &mut self,
        received: ReceiveOutcome,
        fds: &mut Vec<OwnedFd>,
        user: Option<u32>,
        quotas: &mut FdQuotas,
    ) {
        self.framer.received(received.bytes);
        if received.descriptors == DescriptorDelivery::Truncated {
            self.framer.lost_fds();
        }
        if !fds.is_empty() {
            let count = fds.len() as u32;
            match quotas.take(user, fds, &mut self.fds) {
                Ok(()) => self.framer.received_fds(count),
                Err(QuotaReached) => self.framer.lost_fds(),
            }
        }
    }

    /// The next complete message in the scratch buffer, if there is one.
    pub(crate) fn next_message(
        &mut self,
        scratch: &Rc<Vec<u8>>,
    ) -> Result<Option<SharedSlice>, InvalidMessage> {
        let Some(frame) = self.framer.next(scratch)? else { return Ok(None) };
        Ok(Some(match frame {
            Frame::Scratch(bytes) => {
                let start = bytes.as_ptr().addr() - scratch.as_ptr().addr();
                let range = start..start + bytes.len();
                SharedSlice { memory: Rc::clone(scratch), range, backing: Backing::Scratch }
            }
            Frame::Owned(bytes) => {
                let range = 0..bytes.len();
                SharedSlice { memory: Rc::new(bytes), range, backing: Backing::Owned }
            }
        }))
    }

    /// Takes the descriptors that belong to a message out of those that were received.
    pub(crate) fn claim_fds(
        &mut self,
        message: &Message<'_>,
    ) -> Result<DescriptorClaim, InvalidMessage> {
        if let Some(count) = self.framer.take_incomplete(message) {
            self.fds.drain(..count as usize);
            return Ok(DescriptorClaim::Lost);
        }
        let count = self.framer.claim_fds(message)? as usize;
        if count == 0 {
            return Ok(DescriptorClaim::Complete(None));
        }
        self.fds_since = None;
        Ok(DescriptorClaim::Complete(Some(self.fds.drain(..count).collect())))
    }

    /// Copies what is left in the scratch buffer, so that the next connection can use it.
    pub(crate) fn park(&mut self, scratch: &[u8], now: Duration) -> Parked {
        let has_more = self.framer.has_message(scratch);
        self.framer.park(scratch);
        let fds_begin_to_wait = !self.fds.is_empty() && self.fds_since.is_none();
        if self.fds.is_empty() {
            self.fds_since = None;
        } else {
            self.fds_since.get_or_insert(now);
        }
        Parked { has_more, fds_begin_to_wait, moved: self.framer.take_moved() }
    }
}

/// What is left of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parked {
    /// Whether another complete message is there.
    pub(crate) has_more: bool,
    /// Whether descriptors wait for their message from now on.
    pub(crate) fds_begin_to_wait: bool,
    /// Bytes that were copied.
    pub(crate) moved: u64,
}

/// What a connection does on the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It sends and receives.
    Participant,
    /// It sees the messages of others, and never holds their senders.
    Monitor,
}

/// When the bus read from a socket, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ReadTimes {
    /// When it turned to the socket.
    pub(crate) from: u64,
    /// When it had the bytes; `None` if this is not measured.
    pub(crate) until: Option<u64>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: PeerId,
    pub(crate) socket: OwnedFd,
    pub(crate) phase: Phase,
    pub(crate) queue: WriteQueue,
    /// Where in the stream to it the last message ends that was traced.
    pub(crate) traced_end: u64,
    /// How much of it is taken at once.
    pub(crate) budget: ReadBudget,
    /// What it has sent and slow recipients have not read.
    pub(crate) sent: Backlog,
    pub(crate) limits: HoldLimits,
    pub(crate) role: Role,
    pub(crate) writing: Writing,
    /// When its socket last took a byte, or descriptors began to wait in its queue, or it was found to
    /// have read something.
    pub(crate) unread_since: Duration,
    /// What the socket had unread when that was looked at last, since then; in bytes, as the kernel
    /// counts.
    pub(crate) unread: Option<u64>,
    /// Descriptors that were written to its socket, as far as it may not have received them.
    pub(crate) fds_in_kernel: FdsInKernel,
    /// When to write again, while the kernel has no memory for what is queued.
    pub(crate) retry_at: Option<Duration>,
    /// What the poller watches it for, if it does.
    pub(crate) watched: Option<Interest>,
    /// Whether it is in the list of those to be written to in this turn.
    pub(crate) is_dirty: bool,
    /// Whether it is in the list of those that may not stay as they are.
    pub(crate) is_timed: bool,
    /// Set when it is to be closed at the end of the turn.
    pub(crate) end: Option<End>,
}

impl Connection {
    /// A connection that was accepted. If its user connects too often, it is read from `served_at` on.
    pub(crate) fn new(
        peer: PeerId,
        socket: OwnedFd,
        login: PeerLogin,
        served_at: Option<Duration>,
        limits: HoldLimits,
    ) -> Self {
        Self {
            peer,
            socket,
            phase: Phase::Handshake(Handshake { login: Box::new(login), served_at }),
            queue: WriteQueue::default(),
            traced_end: 0,
            budget: ReadBudget::default(),
            sent: Backlog::default(),
            limits,
            role: Role::Participant,
            writing: Writing::Flowing,
            unread_since: Duration::ZERO,
            unread: None,
            fds_in_kernel: FdsInKernel::default(),
            retry_at: None,
            watched: None,
            is_dirty: false,
            is_timed: false,
            end: None,
        }
    }

    /// When it is read first, if that is to come.
    pub(crate) const fn served_at(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Handshake(handshake) => handshake.served_at,
            Phase::Messages(_) => None,
        }
    }

    /// Whether messages that were read wait for their turn.
    pub(crate) const fn has_backlog(&self) -> bool {
        matches!(&self.phase, Phase::Messages(MessageStream { has_backlog: true, .. }))
    }

    /// Reads once into `scratch`, or into the buffer of a large message, and puts descriptors into
    /// `fds`. Returns `None` if there is nothing to read, and how the connection has ended if it has.
    pub(crate) fn read(
        &mut self,
        scratch: &mut [u8],
        fds: &mut Vec<OwnedFd>,
    ) -> Result<Option<ReceiveOutcome>, End> {
        let portion = self.budget.portion();
        let space = match &mut self.phase {
            Phase::Handshake(_) => Space::Scratch(scratch),
            Phase::Messages(stream) => stream.framer.space(scratch),
        };
        let socket = self.socket.as_fd();
        let received = match space {
            Space::Scratch(space) => {
                let room = space.len().min(portion);
                transfer::receive(socket, &mut space[..room], fds, TransferWait::Never)
            }
            Space::Large { buffer, room } => {
                transfer::receive_more(socket, buffer, room, fds, TransferWait::Never)
            }
        };
        let received = match received {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(_) => return Err(self.left()),
        };
        if received.descriptors == DescriptorDelivery::Truncated {
            // Some of the descriptors of a message are of no use.
            fds.clear();
            if matches!(self.phase, Phase::Handshake(_)) {
                return Err(End::FdsTruncated);
            }
        }
        if received.bytes == 0 { Err(self.left()) } else { Ok(Some(received)) }
    }

    /// Queues a message. The caller adds it to a list of connections to write to, if
    /// [`Queued::is_newly_dirty`] says so.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        message: Outgoing<'_>,
        charge: Charge,
        now: Duration,
        spare: &mut Spare,
    ) -> Queued {
        let fds = message.fds.as_ref().map_or(0, |fds| fds.len() as u32);
        if fds > 0 && !self.queue.has_fds() {
            self.took_some(now);
        }
        self.queue.push(message, charge, spare);
        let is_flowing = self.writing.is_flowing();
        Queued {
            is_flowing,
            is_newly_dirty: is_flowing && !mem::replace(&mut self.is_dirty, is_flowing),
            is_long: is_flowing && self.queue.len() > EARLY_FLUSH,
        }
    }

    /// Queues lines of the handshake, as [`Self::enqueue`] does.
    pub(crate) fn enqueue_lines(&mut self, lines: &[u8], spare: &mut Spare) -> Queued {
        self.queue.push_raw(lines, spare);
        let is_flowing = self.writing.is_flowing();
        let is_newly_dirty = is_flowing && !mem::replace(&mut self.is_dirty, is_flowing);
        Queued { is_flowing, is_newly_dirty, is_long: false }
    }

    /// Writes what is queued, as far as the socket takes it, with up to `fds_max` descriptors.
    /// `released` is called for each message that counted against its sender and has left.
    pub(crate) fn write(
        &mut self,
        fds_max: u64,
        now: Duration,
        spare: &mut Spare,
        released: impl FnMut(PeerId, Load),
    ) -> WriteProgress {
        self.is_dirty = false;
        let progress = self.queue.write_to(self.socket.as_fd(), fds_max, spare, released);
        if progress.written.bytes > 0 {
            self.took_some(now);
        }
        progress
    }

    /// Tells the poller what is wanted of the connection now, if that has changed. `may_read` is
    /// whether the bus reads it as far as others are concerned.
    #[inline]
    pub(crate) fn watch(&mut self, poller: &Poller, token: u64, may_read: bool) -> io::Result<()> {
        let wanted = self.wanted_interest(may_read);
        if self.watched == Some(wanted) || (self.watched.is_none() && wanted == Interest::Hangup) {
            return Ok(());
        }
        match self.watched.replace(wanted) {
            Some(_) => poller.modify(&self.socket, token, wanted),
            None => poller.add(&self.socket, token, wanted),
        }
    }

    fn wanted_interest(&self, may_read: bool) -> Interest {
        let reads = self.end.is_none() && self.served_at().is_none() && may_read;
        let writes = !self.writing.is_flowing() && self.retry_at.is_none();
        match (reads, writes) {
            (true, false) => Interest::Read,
            (true, true) => Interest::ReadWrite,
            (false, false) => Interest::Hangup,
            (false, true) => Interest::Write,
        }
    }

    /// When descriptors will have waited too long for their message, if some do.
    pub(crate) fn incoming_fds_due(&self, timeout: Option<Duration>) -> Option<Duration> {
        let Phase::Messages(stream) = &self.phase else { return None };
        Some(stream.fds_since? + timeout?)
    }

    /// When to ask whether it [reads nothing](Self::has_read_nothing) although descriptors are queued
    /// for it, if some are: twice in the time for that. Such a connection may be kept open by one of these descriptors alone.
    pub(crate) fn queued_fds_due(&self, timeout: Option<Duration>) -> Option<Duration> {
        let waits = !self.writing.is_flowing() && self.queue.has_fds();
        waits.then(|| timeout.map(|timeout| self.unread_since + timeout / 2)).flatten()
    }

    /// Its socket has taken a byte, or descriptors begin to wait in its queue.
    pub(crate) const fn took_some(&mut self, now: Duration) {
        self.unread_since = now;
        self.unread = None;
    }

    /// Whether it has read nothing since this was asked half a timeout ago, and `unread` bytes are in
    /// its socket. Few reads make no room for a write, so the kernel has to be asked.
    pub(crate) fn has_read_nothing(&mut self, unread: u64, now: Duration) -> bool {
        self.unread_since = now;
        self.unread.replace(unread) == Some(unread)
    }

    /// When something is to be done about it, if it stays as it is.
    pub(crate) fn due(&self, fds_timeout: Option<Duration>) -> Option<Duration> {
        let fds = [self.incoming_fds_due(fds_timeout), self.queued_fds_due(fds_timeout)];
        let others = [self.writing.due(), self.retry_at, self.served_at()];
        fds.into_iter().chain(others).flatten().min()
    }

    /// How it has ended, if its other end has left.
    pub(crate) fn left(&self) -> End {
        match &self.phase {
            Phase::Handshake(handshake) if handshake.login.server.has_rejected() => End::Rejected,
            Phase::Handshake(_) | Phase::Messages(_) => End::Closed,
        }
    }

    /// Whether a message that is queued for it now counts against its sender.
    pub(crate) const fn charge_for(&self, is_reply: bool) -> Charge {
        match self.role {
            Role::Participant if !is_reply => self.writing.charge(),
            Role::Participant | Role::Monitor => Charge::Never,
        }
    }

    /// Whether it asks for more than it reads.
    pub(crate) fn leaves_answers_unread(&self) -> bool {
        self.queue.len() as u64 > self.limits.queued_bytes
    }
}

/// What has become of a message that was queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    /// Whether the socket takes everything.
    pub(crate) is_flowing: bool,
    /// Whether the connection has to be added to a list of connections to write to.
    pub(crate) is_newly_dirty: bool,
    /// Whether the queue is so long that it has to be written before the turn is over.
    pub(crate) is_long: bool,
}

/// Bytes in a queue that are written before the turn is over.
const EARLY_FLUSH: usize = 256 * 1024;
