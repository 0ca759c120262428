//! One connection: its socket, what was read from it, and what is queued for it.
//!
//! A connection does its own work and returns small results. The event loop decides when.

mod saved;

use std::io;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

pub(crate) use bus::End;
use bus::PeerId;
pub(crate) use saved::SavedConnection;
use serde::{Deserialize, Serialize};
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
    Backing, Charge, CopyTarget, Outgoing, QueueMemory, SharedFds, SharedSlice, WriteProgress,
    WriteQueue,
};
use crate::read_budget::ReadBudget;

/// The protocol phase of a connection.
#[derive(Debug)]
pub(crate) enum Phase {
    /// The client is still authenticating.
    Handshake(Handshake),
    /// The client exchanges messages.
    Messages(MessageStream),
}

/// A connection that authenticates.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) login: Box<PeerLogin>,
    /// When it is first read, if its user connects too often.
    pub(crate) served_at: Option<Duration>,
}

/// The received data of a connection that has authenticated.
#[derive(Debug)]
pub(crate) struct MessageStream {
    pub(crate) framer: Framer,
    /// Received descriptors, in order, of messages that are still incomplete.
    fds: Vec<CountedFd>,
    /// When the oldest of these descriptors was received.
    fds_since: Option<Duration>,
    /// When the bus last read from the socket, while a trace is active.
    pub(crate) read: ReadTimes,
    /// Whether messages that were already read wait to be routed.
    pub(crate) backlog: ReadBacklog,
}

/// The messages of a connection that were already read and are not routed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ReadBacklog {
    /// No messages wait in the buffer.
    Empty,
    /// They are routed in the next turn.
    Queued,
    /// They wait until the connection is read again.
    Held,
}

/// The descriptors of a message.
pub(crate) enum DescriptorClaim {
    /// All descriptors that the message announces, if any.
    Complete(Option<SharedFds>),
    /// This process could not receive some of them.
    Lost,
}

impl MessageStream {
    pub(crate) fn new(framer: Framer) -> Self {
        let (fds, read) = (Vec::new(), ReadTimes { from: 0, until: None });
        Self { framer, fds, fds_since: None, read, backlog: ReadBacklog::Empty }
    }

    /// Processes received bytes. Takes the descriptors from `fds` and counts them against `user`.
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

    /// Removes the descriptors of a message from the received ones.
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

    /// Copies the rest of the scratch buffer, so that the next connection can use the buffer.
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

/// The state after a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parked {
    /// Whether another complete message is available.
    pub(crate) has_more: bool,
    /// Whether descriptors now wait for their message.
    pub(crate) fds_begin_to_wait: bool,
    /// Number of bytes that were copied.
    pub(crate) moved: u64,
}

/// The role of a connection on the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Role {
    /// It sends and receives messages.
    Participant,
    /// It sees the messages of other peers, and never causes their senders to be held.
    Monitor,
}

/// When the bus read from a socket, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct ReadTimes {
    /// When the loop turned to the socket.
    pub(crate) from: u64,
    /// When the read returned; `None` if this is not measured.
    pub(crate) until: Option<u64>,
}

/// An accepted connection with its socket, buffers and queue.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: PeerId,
    pub(crate) socket: OwnedFd,
    pub(crate) phase: Phase,
    pub(crate) queue: WriteQueue,
    /// The position in its outgoing stream at which the last traced message ends.
    pub(crate) traced_end: u64,
    /// How much of it is read and routed at once.
    pub(crate) budget: ReadBudget,
    /// Its messages that slow recipients have not read.
    pub(crate) sent: Backlog,
    pub(crate) limits: HoldLimits,
    pub(crate) role: Role,
    pub(crate) writing: Writing,
    /// When the socket last accepted a byte, or descriptors began to wait in its queue, or the peer
    /// was found to have read something.
    pub(crate) unread_since: Duration,
    /// The unread bytes in the socket at the last check since then, as the kernel counts them.
    pub(crate) unread: Option<u64>,
    /// Descriptors that were written to its socket and may not be received yet.
    pub(crate) fds_in_kernel: FdsInKernel,
    /// When to try writing again, while the kernel has no memory for the queued data.
    pub(crate) retry_at: Option<Duration>,
    /// The events that the poller watches for, if any.
    pub(crate) watched: Option<Interest>,
    /// Whether it is in the list of connections to write to in this turn.
    pub(crate) is_dirty: bool,
    /// Whether it is in the list of connections with a deadline.
    pub(crate) is_timed: bool,
    /// The reason for closing it at the end of the turn, if it is to be closed.
    pub(crate) end: Option<End>,
}

impl Connection {
    /// Creates a connection from an accepted socket. If its user connects too often, it is read
    /// from `served_at` on.
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

    /// When it is first read, if that is in the future.
    pub(crate) const fn served_at(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Handshake(handshake) => handshake.served_at,
            Phase::Messages(_) => None,
        }
    }

    /// Whether messages that were already read wait to be routed.
    pub(crate) const fn has_backlog(&self) -> bool {
        match &self.phase {
            Phase::Messages(MessageStream { backlog, .. }) => {
                !matches!(backlog, ReadBacklog::Empty)
            }
            Phase::Handshake(_) => false,
        }
    }

    /// Changes a held backlog to a queued one. Returns true if there was one.
    #[inline]
    pub(crate) fn resume_backlog(&mut self) -> bool {
        let Phase::Messages(stream) = &mut self.phase else { return false };
        let is_held = stream.backlog == ReadBacklog::Held;
        if is_held {
            stream.backlog = ReadBacklog::Queued;
        }
        is_held
    }

    /// Reads once into `scratch`, or into the buffer of a large message, and puts descriptors into
    /// `fds`. Returns `None` if there is nothing to read, and the end of the connection if it has
    /// ended.
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
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // Other connections use the scratch buffer next.
                if let Phase::Messages(stream) = &mut self.phase {
                    stream.framer.park(scratch);
                }
                return Ok(None);
            }
            Err(_) => return Err(self.left()),
        };
        if received.descriptors == DescriptorDelivery::Truncated {
            // A partial set of descriptors is useless.
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
        memory: &mut QueueMemory,
    ) -> Queued {
        let fds = message.fds.as_ref().map_or(0, |fds| fds.len() as u32);
        if fds > 0 && !self.queue.has_fds() {
            self.took_some(now);
        }
        let is_flowing = self.writing.is_flowing();
        let target = if is_flowing { CopyTarget::Staging } else { CopyTarget::Queue };
        let copied = self.queue.push(message, charge, target, memory);
        Queued {
            copied,
            is_flowing,
            is_newly_dirty: is_flowing && !mem::replace(&mut self.is_dirty, is_flowing),
            is_long: is_flowing && self.queue.len() > EARLY_FLUSH,
        }
    }

    /// Queues lines of the handshake, as [`Self::enqueue`] does.
    pub(crate) fn enqueue_lines(&mut self, lines: &[u8], memory: &mut QueueMemory) -> Queued {
        self.queue.push_raw(lines, memory);
        let is_flowing = self.writing.is_flowing();
        let is_newly_dirty = is_flowing && !mem::replace(&mut self.is_dirty, is_flowing);
        Queued { copied: lines.len(), is_flowing, is_newly_dirty, is_long: false }
    }

    /// Writes the queue, as far as the socket accepts it, with up to `fds_max` descriptors.
    /// `released` is called for each fully written message that counted against its sender.
    pub(crate) fn write(
        &mut self,
        fds_max: u64,
        now: Duration,
        memory: &mut QueueMemory,
        released: impl FnMut(PeerId, Load),
    ) -> WriteProgress {
        self.is_dirty = false;
        let progress = self.queue.write_to(self.socket.as_fd(), fds_max, memory, released);
        if progress.written.bytes > 0 {
            self.took_some(now);
        }
        progress
    }

    /// Updates the events that the poller watches for, if they have changed. `may_read` is false
    /// while the bus does not read the connection because of other connections.
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

    /// The deadline of descriptors that wait for their message, if there are any.
    pub(crate) fn incoming_fds_due(&self, timeout: Option<Duration>) -> Option<Duration> {
        let Phase::Messages(stream) = &self.phase else { return None };
        Some(stream.fds_since?.saturating_add(timeout?))
    }

    /// When to check whether the peer [reads nothing](Self::has_read_nothing) although descriptors
    /// are queued for it. The check runs twice per timeout. One of these descriptors alone may keep
    /// such a connection open.
    pub(crate) fn queued_fds_due(&self, timeout: Option<Duration>) -> Option<Duration> {
        let waits = !self.writing.is_flowing() && self.queue.has_fds();
        waits
            .then(|| timeout.map(|timeout| self.unread_since.saturating_add(timeout / 2)))
            .flatten()
    }

    /// Notes that the socket accepted a byte, or that descriptors begin to wait in its queue.
    pub(crate) const fn took_some(&mut self, now: Duration) {
        self.unread_since = now;
        self.unread = None;
    }

    /// Whether the peer has read nothing since the check half a timeout ago, if `unread` bytes are
    /// in its socket. A few reads do not make the socket writable, so the kernel has to be asked.
    pub(crate) fn has_read_nothing(&mut self, unread: u64, now: Duration) -> bool {
        self.unread_since = now;
        self.unread.replace(unread) == Some(unread)
    }

    /// The next deadline of the connection, if its state does not change.
    pub(crate) fn due(&self, fds_timeout: Option<Duration>) -> Option<Duration> {
        let fds = [self.incoming_fds_due(fds_timeout), self.queued_fds_due(fds_timeout)];
        let others = [self.writing.due(), self.retry_at, self.served_at()];
        fds.into_iter().chain(others).flatten().min()
    }

    /// How the connection ended, if the peer closed it.
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

    /// Whether the peer sends requests faster than it reads the replies.
    pub(crate) fn leaves_answers_unread(&self) -> bool {
        self.queue.len() as u64 > self.limits.queued_bytes
    }
}

/// The result of queueing a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    /// Number of bytes that were copied in memory.
    pub(crate) copied: usize,
    /// Whether the socket accepts everything.
    pub(crate) is_flowing: bool,
    /// Whether the connection has to be added to a list of connections to write to.
    pub(crate) is_newly_dirty: bool,
    /// Whether the queue is so long that it has to be written before the turn is over.
    pub(crate) is_long: bool,
}

/// A queue of at least this many bytes is written before the turn is over.
const EARLY_FLUSH: usize = 256 * 1024;
