//! Saves and restores a connection.

use std::time::Duration;

use bus::PeerId;
use serde::{Deserialize, Serialize};
use sys::poll::Interest;
use wire::framer::Framer;

use super::{Connection, Handshake, MessageStream, Phase, ReadBacklog, ReadTimes, Role};
use crate::back_pressure::{Backlog, HoldLimits, Writing};
use crate::fd_quota::FdQuotas;
use crate::fds_in_kernel::FdsInKernel;
use crate::login::PeerLogin;
use crate::outgoing::{SavedQueue, WriteQueue};
use crate::read_budget::ReadBudget;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, SavedFdSet, StateError};

/// A connection in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedConnection {
    pub(crate) peer: PeerId,
    socket: FdIndex,
    phase: SavedPhase,
    queue: SavedQueue,
    traced_end: u64,
    budget: ReadBudget,
    sent: Backlog,
    limits: HoldLimits,
    role: Role,
    writing: Writing,
    unread_since: Duration,
    unread: Option<u64>,
    fds_in_kernel: FdsInKernel,
    retry_at: Option<Duration>,
    /// The events of the socket that the poller watched for.
    watched: Option<SavedInterest>,
    is_timed: bool,
}

/// An [`Interest`] in a saved state.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum SavedInterest {
    Read,
    Write,
    ReadWrite,
    Hangup,
}

impl From<Interest> for SavedInterest {
    fn from(interest: Interest) -> Self {
        match interest {
            Interest::Read => Self::Read,
            Interest::Write => Self::Write,
            Interest::ReadWrite => Self::ReadWrite,
            Interest::Hangup => Self::Hangup,
        }
    }
}

impl From<SavedInterest> for Interest {
    fn from(saved: SavedInterest) -> Self {
        match saved {
            SavedInterest::Read => Self::Read,
            SavedInterest::Write => Self::Write,
            SavedInterest::ReadWrite => Self::ReadWrite,
            SavedInterest::Hangup => Self::Hangup,
        }
    }
}

impl SavedConnection {
    /// The socket and its events, if the poller watched it.
    pub(crate) fn watched(&self) -> Option<(FdIndex, Interest)> {
        self.watched.map(|saved| (self.socket, saved.into()))
    }
}

/// The protocol phase of a saved connection.
#[derive(Debug, Serialize, Deserialize)]
enum SavedPhase {
    Handshake {
        login: Box<PeerLogin>,
        served_at: Option<Duration>,
    },
    Messages {
        framer: Framer,
        fds: SavedFdSet,
        fds_since: Option<Duration>,
        read: ReadTimes,
        backlog: ReadBacklog,
    },
}

impl Connection {
    /// Saves the connection between two turns, when it neither uses a scratch buffer nor has ended.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedConnection {
        debug_assert!(self.end.is_none() && !self.is_dirty, "the turn is over");
        SavedConnection {
            peer: self.peer,
            socket: fds.add(&self.socket),
            phase: self.phase.save(fds),
            queue: self.queue.save(fds),
            traced_end: self.traced_end,
            budget: self.budget,
            sent: self.sent,
            limits: self.limits,
            role: self.role,
            writing: self.writing,
            unread_since: self.unread_since,
            unread: self.unread,
            fds_in_kernel: self.fds_in_kernel.clone(),
            retry_at: self.retry_at,
            watched: self.watched.map(SavedInterest::from),
            is_timed: self.is_timed,
        }
    }

    /// Restores a connection, which the poller watches if it did before.
    pub(crate) fn restore(
        saved: SavedConnection,
        fds: &mut RestoredFds,
        quotas: &mut FdQuotas,
    ) -> Result<Self, StateError> {
        if !saved.fds_in_kernel.is_consistent() {
            return Err(StateError::Inconsistent("the number of unread descriptors is wrong"));
        }
        Ok(Self {
            peer: saved.peer,
            socket: fds.take(saved.socket)?,
            phase: Phase::restore(saved.phase, fds, quotas)?,
            queue: WriteQueue::restore(saved.queue, fds)?,
            traced_end: saved.traced_end,
            budget: saved.budget,
            sent: saved.sent,
            limits: saved.limits,
            role: saved.role,
            writing: saved.writing,
            unread_since: saved.unread_since,
            unread: saved.unread,
            fds_in_kernel: saved.fds_in_kernel,
            retry_at: saved.retry_at,
            watched: saved.watched.map(Interest::from),
            is_dirty: false,
            is_timed: saved.is_timed,
            end: None,
        })
    }
}

impl Phase {
    fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedPhase {
        match self {
            Self::Handshake(Handshake { login, served_at }) => {
                SavedPhase::Handshake { login: login.clone(), served_at: *served_at }
            }
            Self::Messages(stream) => SavedPhase::Messages {
                framer: stream.framer.clone(),
                fds: stream.fds.iter().map(|fd| fds.add_counted(fd)).collect(),
                fds_since: stream.fds_since,
                read: stream.read,
                backlog: stream.backlog,
            },
        }
    }

    fn restore(
        saved: SavedPhase,
        restored: &mut RestoredFds,
        quotas: &mut FdQuotas,
    ) -> Result<Self, StateError> {
        match saved {
            SavedPhase::Handshake { login, served_at } if login.is_consistent() => {
                Ok(Self::Handshake(Handshake { login, served_at }))
            }
            SavedPhase::Handshake { .. } => {
                Err(StateError::Inconsistent("a nonce has more bytes than a nonce"))
            }
            SavedPhase::Messages { framer, fds, fds_since, read, backlog } => {
                if !framer.is_consistent() || framer.pending_fds() as usize != fds.len() {
                    return Err(StateError::Inconsistent("the received data of a connection"));
                }
                let take = |saved| restored.take_counted(saved, quotas);
                let fds = fds.into_iter().map(take).collect::<Result<_, _>>()?;
                Ok(Self::Messages(MessageStream { framer, fds, fds_since, read, backlog }))
            }
        }
    }
}
