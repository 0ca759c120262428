//! The limits of the configuration, and reports of the limits that were reached.

use core::fmt;
use core::time::Duration;

/// A limit of the configuration that somebody has reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitHit {
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

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}, {} in use", self.limit.as_str(), self.max, self.used)
    }
}

/// The limits of `busconfig`, under their names there. Times that are `None` never pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BusLimits {
    /// Bytes from one connection that were read and are not delivered.
    pub max_incoming_bytes: u64,
    /// Descriptors from one connection that were read and are not delivered.
    pub max_incoming_unix_fds: u64,
    /// Bytes queued for one connection.
    pub max_outgoing_bytes: u64,
    /// Descriptors queued for one connection.
    pub max_outgoing_unix_fds: u64,
    /// Bytes in one message.
    pub max_message_size: u64,
    /// Descriptors with one message.
    pub max_message_unix_fds: u64,
    /// How long a service may take to start.
    pub service_start_timeout: Option<Duration>,
    /// How long a connection may take until it has said Hello.
    pub auth_timeout: Option<Duration>,
    /// How long descriptors may wait for their message.
    pub pending_fd_timeout: Option<Duration>,
    /// Connections that have said Hello.
    pub max_completed_connections: u64,
    /// Connections that have not.
    pub max_incomplete_connections: u64,
    /// Connections of one user that have said Hello.
    pub max_connections_per_user: u64,
    /// Services that are being started.
    pub max_pending_service_starts: u64,
    /// Names of one connection: its unique name, those that it owns and those that it waits for.
    pub max_names_per_connection: u64,
    /// Match rules of one connection.
    pub max_match_rules_per_connection: u64,
    /// Calls of one connection that wait for a reply.
    pub max_replies_per_connection: u64,
    /// How long a call may wait for its reply.
    pub reply_timeout: Option<Duration>,
}

impl Default for BusLimits {
    /// What holds where a configuration sets nothing: the limits of a system bus.
    fn default() -> Self {
        Self {
            max_incoming_bytes: 127 << 20,
            max_incoming_unix_fds: 64,
            max_outgoing_bytes: 127 << 20,
            max_outgoing_unix_fds: 64,
            max_message_size: 32 << 20,
            max_message_unix_fds: 16,
            service_start_timeout: Some(Duration::from_millis(25_000)),
            auth_timeout: Some(Duration::from_millis(30_000)),
            pending_fd_timeout: Some(Duration::from_millis(150_000)),
            max_completed_connections: 2048,
            max_incomplete_connections: 64,
            max_connections_per_user: 256,
            max_pending_service_starts: 512,
            max_names_per_connection: 512,
            max_match_rules_per_connection: 512,
            max_replies_per_connection: 128,
            reply_timeout: None,
        }
    }
}

impl BusLimits {
    /// What the stock configuration of a session bus sets: in effect no limits but the memory's.
    pub fn session() -> Self {
        Self {
            max_incoming_bytes: 1_000_000_000,
            max_incoming_unix_fds: 250_000_000,
            max_outgoing_bytes: 1_000_000_000,
            max_outgoing_unix_fds: 250_000_000,
            max_message_size: 1_000_000_000,
            service_start_timeout: Some(Duration::from_millis(120_000)),
            auth_timeout: Some(Duration::from_millis(240_000)),
            max_completed_connections: 100_000,
            max_incomplete_connections: 10_000,
            max_connections_per_user: 100_000,
            max_pending_service_starts: 10_000,
            max_names_per_connection: 50_000,
            max_match_rules_per_connection: 50_000,
            max_replies_per_connection: 50_000,
            ..Self::default()
        }
    }
}
