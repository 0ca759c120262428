//! Limits that somebody has reached: which, how high it is, and how much was in use.

use core::fmt;

/// A limit of the configuration that somebody has reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reached {
    /// Which limit.
    pub limit: LimitName,
    /// Its value.
    pub max: u64,
    /// How much was in use when more was wanted.
    pub used: u64,
}

/// The limits that the bus refuses something for, by their names in the configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LimitName {
    /// Connections that have said Hello.
    CompletedConnections,
    /// Such connections of one user.
    ConnectionsPerUser,
    /// Names of one connection.
    NamesPerConnection,
    /// Rules of one connection.
    MatchRulesPerConnection,
    /// Calls of one connection that wait for a reply.
    RepliesPerConnection,
    /// Bytes queued for one connection.
    OutgoingBytes,
    /// Descriptors queued for one connection.
    OutgoingFds,
    /// Bytes of a connection that wait to be delivered.
    IncomingBytes,
    /// Descriptors of a connection that do.
    IncomingFds,
    /// Services that are being started.
    PendingServiceStarts,
    /// Bytes of a message.
    MessageSize,
    /// Descriptors with a message.
    MessageFds,
    /// Connections that have not said Hello.
    IncompleteConnections,
    /// Connections of one user in a second.
    ConnectionsPerSecond,
    /// Connections of one user at once.
    ConnectionBurst,
    /// Traces at the same time.
    Traces,
    /// Bytes of the rings of traces.
    TraceBytes,
    /// Milliseconds until a connection has said Hello.
    AuthTimeout,
    /// Milliseconds that descriptors wait for their message.
    PendingFdTimeout,
}

impl LimitName {
    /// The name in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CompletedConnections => "max_completed_connections",
            Self::ConnectionsPerUser => "max_connections_per_user",
            Self::NamesPerConnection => "max_names_per_connection",
            Self::MatchRulesPerConnection => "max_match_rules_per_connection",
            Self::RepliesPerConnection => "max_replies_per_connection",
            Self::OutgoingBytes => "max_outgoing_bytes",
            Self::OutgoingFds => "max_outgoing_unix_fds",
            Self::IncomingBytes => "max_incoming_bytes",
            Self::IncomingFds => "max_incoming_unix_fds",
            Self::PendingServiceStarts => "max_pending_service_starts",
            Self::MessageSize => "max_message_size",
            Self::MessageFds => "max_message_unix_fds",
            Self::IncompleteConnections => "max_incomplete_connections",
            Self::ConnectionsPerSecond => "max_connections_per_second_per_user",
            Self::ConnectionBurst => "max_connection_burst_per_user",
            Self::Traces => "max_traces",
            Self::TraceBytes => "max_trace_bytes",
            Self::AuthTimeout => "auth_timeout",
            Self::PendingFdTimeout => "pending_fd_timeout",
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}, {} in use", self.limit.as_str(), self.max, self.used)
    }
}
