//! One connection, as the event loop sees it: a socket and what it is in the middle of.

use std::os::fd::OwnedFd;
use std::time::Duration;

pub(crate) use bus::End;
use bus::PeerId;
use sys::poll::Interest;
use wire::framer::Framer;

use crate::back_pressure::{Backlog, Limits, Writing};
use crate::event_loop::appetite::Appetite;
use crate::fd_quota::CountedFd;
use crate::fds_in_kernel::FdsInKernel;
use crate::login::Login;
use crate::outgoing::{Charge, Queue, SharedFds};

/// What the next bytes from a connection are.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Lines of the handshake.
    Handshake(Box<Login>),
    /// Messages.
    Messages(Framer),
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
    pub(crate) queue: Queue,
    /// Descriptors that came, in order, and belong to messages that are not complete.
    pub(crate) fds: Vec<CountedFd>,
    /// When the bus last read from it, while somebody traces.
    pub(crate) read: ReadTimes,
    /// Where in the stream to it the last message ends that was traced.
    pub(crate) traced_end: u64,
    /// When descriptors began to wait for their message.
    pub(crate) fds_since: Option<Duration>,
    /// Descriptor of the peer's process, while somebody is told of it.
    pub(crate) pidfd: Option<SharedFds>,
    /// How much of it is taken at once.
    pub(crate) appetite: Appetite,
    /// What it has sent and slow recipients have not read.
    pub(crate) sent: Backlog,
    pub(crate) limits: Limits,
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
    /// When it is read from first, while that is to come: its user connects too often.
    pub(crate) served_at: Option<Duration>,
    /// What the poller watches it for, if it does.
    pub(crate) watched: Option<Interest>,
    /// Whether it is in the list of those to be written to in this turn.
    pub(crate) is_dirty: bool,
    /// Whether it is in the list of those that may not stay as they are.
    pub(crate) is_timed: bool,
    /// Whether messages that have been read wait for their turn.
    pub(crate) has_backlog: bool,
    /// Set when it is to be closed at the end of the turn.
    pub(crate) end: Option<End>,
}

impl Connection {
    pub(crate) fn new(peer: PeerId, socket: OwnedFd, login: Login, limits: Limits) -> Self {
        Self {
            peer,
            socket,
            phase: Phase::Handshake(Box::new(login)),
            queue: Queue::default(),
            fds: Vec::new(),
            read: ReadTimes::default(),
            traced_end: 0,
            fds_since: None,
            pidfd: None,
            appetite: Appetite::default(),
            sent: Backlog::default(),
            limits,
            role: Role::Participant,
            writing: Writing::Flowing,
            unread_since: Duration::ZERO,
            unread: None,
            fds_in_kernel: FdsInKernel::default(),
            retry_at: None,
            served_at: None,
            watched: None,
            is_dirty: false,
            is_timed: false,
            has_backlog: false,
            end: None,
        }
    }

    /// What to ask the poller for, if the connection may be read as far as others are concerned.
    pub(crate) fn wanted_interest(&self, may_read: bool) -> Interest {
        let reads = self.end.is_none() && self.served_at.is_none() && may_read;
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
        Some(self.fds_since? + timeout?)
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
        let others = [self.writing.due(), self.retry_at, self.served_at];
        fds.into_iter().chain(others).flatten().min()
    }

    /// How it has ended, if its other end has left.
    pub(crate) fn left(&self) -> End {
        match &self.phase {
            Phase::Handshake(login) if login.server.has_rejected() => End::Rejected,
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
