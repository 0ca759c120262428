//! How connections end.

use core::fmt;

use wire::message::InvalidMessage;
use wire::sasl::server::Violation;

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
    AttributesUnknown,
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
            Self::AttributesUnknown => "standing-unknown",
        }
    }
}

/// Why a connection is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisconnectReason {
    /// It sent a message that is not valid.
    InvalidMessage(InvalidMessage),
    /// It sent a message for others before it said Hello.
    NotRegistered,
    /// It is a monitor and sent a message.
    MonitorSpoke,
    /// It has not said Hello in the time that it had.
    AuthTimeout,
    /// It sent descriptors and had not agreed to pass any.
    FdsNotAgreed,
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
            Self::AttributesUnknown => f.write_str(
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
