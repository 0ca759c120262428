//! Reasons for the end of a connection.

use core::fmt;

use wire::message::InvalidMessage;
use wire::sasl::server::Violation;

use super::ContainerId;

/// The reason why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The peer closed the connection.
    Closed,
    /// The bus disconnected the peer.
    Bus(DisconnectReason),
    /// The peer did not send the nonce of the address that it connected to.
    WrongNonce,
    /// The peer violated the authentication protocol.
    Handshake(Violation),
    /// The peer sent bytes that are not a valid message.
    Invalid(InvalidMessage),
    /// The peer sent descriptors during the handshake, or without having negotiated them.
    UnexpectedFds,
    /// The kernel could not receive descriptors, because this process has reached its limit.
    FdsTruncated,
    /// The peer sent descriptors, but the message that they belong to did not arrive in time.
    FdsPending,
    /// The peer did not read its queue for too long while descriptors were queued for it. One of
    /// them may keep its own connection open.
    FdsUnread,
    /// The bus accepted none of the authentication attempts of the peer, and the connection ended
    /// before another one.
    Rejected,
    /// The bus could not watch the socket.
    Unwatched,
    /// The policy does not allow the peer to connect.
    NotAdmitted,
    /// The facts that the policy requires about the peer could not be read.
    AttributesUnknown,
}

impl End {
    /// The reason in one word, under which it is counted, such as `invalid-message`.
    #[must_use]
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Bus(DisconnectReason::InvalidMessage(_)) | Self::Invalid(_) => "invalid-message",
            Self::Bus(DisconnectReason::NotRegistered) => "not-registered",
            Self::Bus(DisconnectReason::MonitorSpoke) => "monitor-spoke",
            Self::Bus(DisconnectReason::AuthTimeout) => "auth-timeout",
            Self::Bus(DisconnectReason::FdsNotAgreed) | Self::UnexpectedFds => "unexpected-fds",
            Self::Bus(DisconnectReason::ContainerStopped) => "container-stopped",
            Self::Bus(DisconnectReason::ContainerFull(_)) => "max_connections_per_container",
            Self::Bus(DisconnectReason::ContainerClosed) => "container-closed",
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

/// The reason why the bus disconnects a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisconnectReason {
    /// The peer sent an invalid message.
    InvalidMessage(InvalidMessage),
    /// The peer sent a message to another peer before it called Hello.
    NotRegistered,
    /// The peer is a monitor and sent a message.
    MonitorSpoke,
    /// The peer did not call Hello in time.
    AuthTimeout,
    /// The peer sent descriptors without having negotiated them.
    FdsNotAgreed,
    /// The container of the peer has been stopped.
    ContainerStopped,
    /// The container that the peer connected to has too many connections.
    ContainerFull(ContainerId),
    /// The container that the peer connected to does not accept connections any more.
    ContainerClosed,
}

/// Writes the reason as the end of a sentence about the connection.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("it has closed the connection"),
            Self::Bus(reason) => reason.fmt(f),
            Self::WrongNonce => {
                f.write_str("it did not send the nonce of the address")
            }
            Self::Handshake(violation) => {
                write!(f, "it violated the authentication protocol: {violation}")
            }
            Self::Invalid(error) => write!(f, "it sent an invalid message: {error}"),
            Self::UnexpectedFds => {
                f.write_str("it sent file descriptors without having negotiated them")
            }
            Self::FdsTruncated => f.write_str(
                "its file descriptors could not be received; check the limit of open files of the bus",
            ),
            Self::FdsPending => f.write_str(
                "it sent file descriptors, but their message did not arrive in time",
            ),
            Self::FdsUnread => f.write_str(
                "file descriptors were queued for it, and it read nothing within pending_fd_timeout",
            ),
            Self::Rejected => f.write_str("none of its authentication attempts was accepted"),
            Self::Unwatched => f.write_str("its socket could not be watched"),
            Self::NotAdmitted => f.write_str("its user may not connect to this bus"),
            Self::AttributesUnknown => f.write_str(
                "the policy needs its groups, or needs to know whether its user is at the console, \
                 and they could not be read",
            ),
        }
    }
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidMessage(error) => write!(f, "it sent an invalid message: {error}"),
            Self::NotRegistered => {
                f.write_str("it sent a message to another peer before it called Hello")
            }
            Self::MonitorSpoke => f.write_str("it is a monitor and sent a message"),
            Self::AuthTimeout => {
                f.write_str("it did not authenticate and call Hello in time (auth_timeout)")
            }
            Self::ContainerStopped => f.write_str("its container was stopped"),
            Self::ContainerFull(container) => write!(
                f,
                "it would exceed the limit on connections of the container {} \
                 (max_connections_per_container)",
                container.path()
            ),
            Self::ContainerClosed => {
                f.write_str("its container does not accept connections any more")
            }
            Self::FdsNotAgreed => f.write_str(
                "it sent a message with file descriptors without having negotiated them",
            ),
        }
    }
}
