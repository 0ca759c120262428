//! One connection, as the event loop sees it: a socket and what it is in the middle of.

use std::os::fd::OwnedFd;
use std::time::Duration;

pub(crate) use bus::End;
use bus::PeerId;
use sys::poll::Interest;
use wire::framer::Framer;

use crate::event_loop::appetite::Appetite;
use crate::login::Login;
use crate::outgoing::{Load, Queue, SharedFds};

/// What the next bytes from a connection are.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Lines of the handshake.
    Handshake(Box<Login>),
    /// Messages.
    Messages(Framer),
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: PeerId,
    pub(crate) socket: OwnedFd,
    pub(crate) phase: Phase,
    pub(crate) queue: Queue,
    /// Descriptors that came, in order, and belong to messages that are not complete.
    pub(crate) fds: Vec<OwnedFd>,
    /// When it was read from last, while somebody traces.
    pub(crate) read_at: Duration,
    /// Where in the stream to it the last message ends that was traced.
    pub(crate) traced_end: u64,
    /// When descriptors began to wait for their message.
    pub(crate) fds_since: Option<Duration>,
    /// Descriptor of the peer's process, while somebody is told of it.
    pub(crate) pidfd: Option<SharedFds>,
    /// How much of it is taken at once.
    pub(crate) appetite: Appetite,
    /// Those of this connection's messages that wait in the queues of slow recipients.
    pub(crate) in_flight: Load,
    /// How much of that there may be, and how much may wait for it.
    pub(crate) room: Room,
    pub(crate) writing: Writing,
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

/// How writing to a connection goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writing {
    /// The socket takes everything.
    Flowing,
    /// The socket is full, and was at the given time, when it took bytes last.
    Blocked {
        /// When bytes were taken last.
        since: Duration,
    },
    /// The socket has been full for so long that its senders no longer wait for it.
    Stalled,
}

impl Connection {
    pub(crate) fn new(peer: PeerId, socket: OwnedFd, login: Login, room: Room) -> Self {
        Self {
            peer,
            socket,
            phase: Phase::Handshake(Box::new(login)),
            queue: Queue::default(),
            fds: Vec::new(),
            read_at: Duration::ZERO,
            traced_end: 0,
            fds_since: None,
            pidfd: None,
            appetite: Appetite::default(),
            in_flight: Load::default(),
            room,
            writing: Writing::Flowing,
            served_at: None,
            watched: None,
            is_dirty: false,
            is_timed: false,
            has_backlog: false,
            end: None,
        }
    }

    /// What to ask the poller for.
    pub(crate) fn wanted_interest(&self) -> Interest {
        let reads = self.end.is_none() && self.served_at.is_none() && self.may_send();
        match (reads, self.writing) {
            (true, Writing::Flowing) => Interest::Read,
            (true, _) => Interest::ReadWrite,
            (false, Writing::Flowing) => Interest::Hangup,
            (false, _) => Interest::Write,
        }
    }

    /// When it will have taken nothing for too long, if its socket is full.
    pub(crate) fn stall_due(&self) -> Option<Duration> {
        match self.writing {
            Writing::Blocked { since } => Some(since + STALL_AFTER),
            Writing::Flowing | Writing::Stalled => None,
        }
    }

    /// When descriptors will have waited too long for their message, if some do.
    pub(crate) fn fds_due(&self, timeout: Option<Duration>) -> Option<Duration> {
        Some(self.fds_since? + timeout?)
    }

    /// When something is to be done about it, if it stays as it is.
    pub(crate) fn due(&self, fds_timeout: Option<Duration>) -> Option<Duration> {
        [self.stall_due(), self.fds_due(fds_timeout), self.served_at].into_iter().flatten().min()
    }

    /// How it has ended, if its other end has left.
    pub(crate) fn left(&self) -> End {
        match &self.phase {
            Phase::Handshake(login) if login.server.has_rejected() => End::Rejected,
            Phase::Handshake(_) | Phase::Messages(_) => End::Closed,
        }
    }

    /// Whether it is read from: not while too much of what it sent waits to be delivered, nor
    /// while it leaves too much of what it asked for unread.
    pub(crate) fn may_send(&self) -> bool {
        (self.in_flight.bytes as u64) < self.room.bytes_in_flight
            && u64::from(self.in_flight.fds) < self.room.fds_in_flight
            && (self.queue.len() as u64) <= self.room.bytes_queued
    }
}

/// How much of one connection may be under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Bytes of its own that wait for slow recipients.
    bytes_in_flight: u64,
    /// Descriptors of its own that do.
    fds_in_flight: u64,
    /// Bytes that wait for it.
    bytes_queued: u64,
}

impl Room {
    /// What these limits leave.
    ///
    /// A sender is slowed well before the queue of a recipient that reads is full, so that nobody
    /// who keeps reading loses a signal.
    pub(crate) fn within(limits: &bus::Limits) -> Self {
        let before_loss = limits.max_outgoing_bytes / 2;
        Self {
            bytes_in_flight: limits.max_incoming_bytes.min(IN_FLIGHT_MAX).min(before_loss).max(1),
            fds_in_flight: limits.max_incoming_unix_fds.max(1),
            bytes_queued: limits.max_outgoing_bytes,
        }
    }
}

/// Bytes that one sender may have in the queues of slow recipients before it is read no more,
/// where the configuration does not set less. Enough for any burst, and far below what would be
/// felt as memory.
const IN_FLIGHT_MAX: u64 = 16 << 20;

/// How long a connection may take no byte before its senders no longer wait for it.
const STALL_AFTER: Duration = Duration::from_secs(1);
