//! Lanes: sockets between two connections, on which they exchange messages without the bus.

use alloc::boxed::Box;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{CallId, ErrorKind, ForeignError, LimitHit, LimitName, PeerId};

/// The id of a lane. Ids are never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LaneId(u32);

impl LaneId {
    /// The id with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}", self.0)
    }
}

/// The counters of one connection, by which the ends of its lanes keep the order of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageProgress {
    /// Messages of the connection that the bus has routed.
    pub routed: u64,
    /// Messages that the bus has queued for the connection, including those that it has received.
    pub queued: u64,
}

/// Messages that a connection exchanged on its lanes. The connection counts them itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaneCounts {
    /// Messages that it sent.
    pub sent: u64,
    /// Bytes of the messages that it sent.
    pub sent_bytes: u64,
    /// Messages that it received.
    pub received: u64,
    /// Bytes of the messages that it received.
    pub received_bytes: u64,
}

impl LaneCounts {
    /// Continues with later counts. Counts never become smaller.
    pub(crate) fn advance(&mut self, later: Self) {
        self.sent = self.sent.max(later.sent);
        self.sent_bytes = self.sent_bytes.max(later.sent_bytes);
        self.received = self.received.max(later.received);
        self.received_bytes = self.received_bytes.max(later.received_bytes);
    }
}

/// The reason why two connections cannot have a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneRefusal {
    /// The configuration allows no lanes.
    Disabled,
    /// A monitor, an eavesdropper or a trace sees messages of others.
    Watched,
    /// This connection is in a container.
    Contained {
        /// The unique name of the connection.
        name: Box<str>,
    },
    /// A security module decides about each message.
    Mediated,
    /// The policy allows some messages between the two, and denies or logs others.
    PolicyDecides {
        /// The unique name of the sender of these messages.
        sender: Box<str>,
        /// The unique name of their recipient.
        recipient: Box<str>,
    },
    /// This connection did not negotiate passing of file descriptors.
    FdsNotAgreed {
        /// The unique name of the connection.
        name: Box<str>,
    },
    /// The two ends are the same connection, or one is the bus.
    NoPartner,
    /// The caller has asked for too many lanes that its partners have not asked for.
    TooManyWishes,
    /// A connection has too many lanes.
    TooMany {
        /// The unique name of the connection.
        name: Box<str>,
        /// The value of the limit.
        max: u64,
        /// The number of its lanes.
        used: u64,
    },
    /// All ids of lanes have been used.
    NoIdsLeft,
    /// The two had a lane before, and the bus does not know yet which of their calls wait for a reply.
    NotResumed,
    /// The two did not have a lane.
    NoLane,
    /// The sockets could not be opened.
    NotOpened(ForeignError),
}

impl LaneRefusal {
    /// The name of the error on the wire.
    pub(super) const fn kind(&self) -> ErrorKind {
        match self {
            Self::Disabled
            | Self::Watched
            | Self::Contained { .. }
            | Self::Mediated
            | Self::PolicyDecides { .. }
            | Self::FdsNotAgreed { .. }
            | Self::NotResumed => ErrorKind::NotSupported,
            Self::NoPartner | Self::NoLane => ErrorKind::InvalidArgs,
            Self::TooMany { .. } | Self::TooManyWishes | Self::NoIdsLeft => {
                ErrorKind::LimitsExceeded
            }
            Self::NotOpened(_) => ErrorKind::Failed,
        }
    }

    /// The limit that was hit, if a limit is the reason.
    pub(super) const fn limit_hit(&self) -> Option<LimitHit> {
        match *self {
            Self::TooMany { max, used, .. } => {
                Some(LimitHit { limit: LimitName::LanesPerConnection, max, used })
            }
            _ => None,
        }
    }
}

impl fmt::Display for LaneRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => {
                f.write_str("The configuration allows no lanes (max_lanes_per_connection=0)")
            }
            Self::Watched => {
                f.write_str("A monitor, an eavesdropper or a trace sees messages of the bus")
            }
            Self::Contained { name } => write!(f, "Connection \"{name}\" is in a container"),
            Self::Mediated => f.write_str("A security module decides about each message"),
            Self::PolicyDecides { sender, recipient } => write!(
                f,
                "The policy has rules about single messages from \"{sender}\" to \"{recipient}\""
            ),
            Self::FdsNotAgreed { name } => {
                write!(f, "Connection \"{name}\" does not accept file descriptors")
            }
            Self::NoPartner => f.write_str("A lane has two different connections as its ends"),
            Self::TooMany { name, max, .. } => write!(
                f,
                "Connection \"{name}\" is not allowed to have more lanes \
                 (max_lanes_per_connection={max})"
            ),
            Self::TooManyWishes => {
                f.write_str("The connection has asked for too many lanes that others do not want")
            }
            Self::NoIdsLeft => f.write_str("Too many lanes during the lifetime of this bus"),
            Self::NotResumed => {
                f.write_str("The last lane of these connections has not been wound up")
            }
            Self::NoLane => f.write_str("These connections did not have a lane"),
            Self::NotOpened(error) => write!(f, "The lane could not be opened: {error}"),
        }
    }
}

/// The call that opens a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneRequest {
    /// The call to the method Request.
    pub call: CallId,
    /// Whether its sender expects a reply. It gets errors in any case.
    pub expects_reply: bool,
}

/// The ends of a lane that is to be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneEnds {
    /// The connection at one end.
    pub one: PeerId,
    /// The connection at the other end.
    pub other: PeerId,
}
