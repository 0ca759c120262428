//! How connections end.

use core::fmt;

use wire::message::{InvalidMessage, Reason};
use wire::sasl::server::Violation;

use crate::bus::Bus;
use crate::effects::DisconnectReason;
use crate::input::PeerId;
use crate::reached::{LimitName, Reached};

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The peer has closed it.
    Closed,
    /// The bus did not want it any more.
    Bus(DisconnectReason),
    /// It did not send the secret of the address that it connected to.
    WrongNonce,
    /// It broke the rules of the handshake.
    Handshake(Violation),
    /// It sent bytes that are no message.
    Invalid(InvalidMessage),
    /// It sent descriptors during or without the handshake having agreed on them.
    UnexpectedFds,
    /// The kernel could not hand over descriptors: this process has no room for more.
    FdsTruncated,
    /// It sent descriptors, and for too long no message that they belong to.
    FdsPending,
    /// It has read nothing for too long while descriptors were queued for it, one of which may be
    /// what keeps it open.
    FdsUnread,
    /// It has left, since nothing that it tried to authenticate with was accepted.
    Rejected,
    /// It cannot be watched.
    Unwatched,
    /// It may not connect to this bus.
    NotAdmitted,
    /// What the policy asks of it cannot be learnt.
    StandingUnknown,
}

impl End {
    /// The reason in one word, under which it is counted: `invalid-message`.
    #[must_use]
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Bus(DisconnectReason::InvalidMessage(_)) | Self::Invalid(_) => "invalid-message",
            Self::Bus(DisconnectReason::NotRegistered) => "not-registered",
            Self::Bus(DisconnectReason::MonitorSpoke) => "monitor-spoke",
            Self::Bus(DisconnectReason::AuthTimeout) => "auth-timeout",
            Self::Bus(DisconnectReason::FdsNotAgreed) | Self::UnexpectedFds => "unexpected-fds",
            Self::WrongNonce => "wrong-nonce",
            Self::Handshake(_) => "handshake",
            Self::FdsTruncated => "fds-truncated",
            Self::FdsPending => "fds-pending",
            Self::FdsUnread => "fds-unread",
            Self::Rejected => "authentication",
            Self::Unwatched => "unwatched",
            Self::NotAdmitted => "not-admitted",
            Self::StandingUnknown => "standing-unknown",
        }
    }
}

impl Bus {
    /// The limit for which a connection is ended, if it is one.
    pub fn reached_by(&self, peer: PeerId, end: &End) -> Option<Reached> {
        let limits = &self.configuration().limits;
        match end {
            End::Bus(DisconnectReason::AuthTimeout) => {
                let max = limits.auth_timeout?.as_millis() as u64;
                let used = self.now.since(self.peers.get(peer)?.since).as_millis() as u64;
                Some(Reached { limit: LimitName::AuthTimeout, max, used })
            }
            End::FdsPending | End::FdsUnread => {
                let max = limits.pending_fd_timeout?.as_millis() as u64;
                Some(Reached { limit: LimitName::PendingFdTimeout, max, used: max })
            }
            End::Invalid(InvalidMessage { reason, .. }) => of_message(*reason),
            _ => None,
        }
    }
}

const fn of_message(reason: Reason) -> Option<Reached> {
    let (limit, max, used) = match reason {
        Reason::OverConfiguredLimit { len, limit } => (LimitName::MessageSize, limit, len),
        Reason::DescriptorsOverLimit { received, limit } => {
            (LimitName::MessageFds, limit, received)
        }
        _ => return None,
    };
    Some(Reached { limit, max: max as u64, used: used as u64 })
}

/// The reason as the end of a sentence about the connection.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("it has closed the connection"),
            Self::Bus(reason) => reason.fmt(f),
            Self::WrongNonce => {
                f.write_str("it did not send the secret in the file of the address")
            }
            Self::Handshake(violation) => {
                write!(f, "it broke the rules of the handshake: {violation}")
            }
            Self::Invalid(error) => write!(f, "it sent an invalid message: {error}"),
            Self::UnexpectedFds => {
                f.write_str("it sent file descriptors that the handshake did not agree on")
            }
            Self::FdsTruncated => f.write_str(
                "its file descriptors could not be received; is the limit of open files reached?",
            ),
            Self::FdsPending => f.write_str(
                "it sent file descriptors and for too long no message that they belong to",
            ),
            Self::FdsUnread => f.write_str(
                "it read nothing for too long while file descriptors were queued for it",
            ),
            Self::Rejected => f.write_str(
                "it has given up, since nothing that it authenticated with was accepted",
            ),
            Self::Unwatched => f.write_str("the system does not let it be watched"),
            Self::NotAdmitted => f.write_str("its user may not connect to this bus"),
            Self::StandingUnknown => f.write_str(
                "its groups, or whether its user sits at the machine, cannot be told, and the \
                 policy asks for that",
            ),
        }
    }
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidMessage(error) => write!(f, "it sent an invalid message: {error}"),
            Self::NotRegistered => f.write_str("it sent a message to others before it said Hello"),
            Self::MonitorSpoke => f.write_str("it is a monitor and sent a message"),
            Self::AuthTimeout => {
                f.write_str("it did not finish the handshake and say Hello in time (auth_timeout)")
            }
            Self::FdsNotAgreed => f.write_str(
                "it sent a message with file descriptors that the handshake did not agree on",
            ),
        }
    }
}
