//! The limits of the configuration, and reports of limits that were hit.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// A limit of the configuration that was hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LimitHit {
    /// The limit that was hit.
    pub limit: LimitName,
    /// The configured value of the limit.
    pub max: u64,
    /// The amount in use when more was requested.
    pub used: u64,
}

/// The limits that make the bus refuse an action, by their names in the configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum LimitName {
    /// Connections that have called Hello.
    CompletedConnections,
    /// Connections of one user that have called Hello.
    ConnectionsPerUser,
    /// Names of one connection: its unique name, the names it owns and the names it is queued for.
    NamesPerConnection,
    /// Match rules of one connection.
    MatchRulesPerConnection,
    /// Pending calls of one connection.
    RepliesPerConnection,
    /// Bytes queued for one connection.
    OutgoingBytes,
    /// Descriptors queued for one connection.
    OutgoingFds,
    /// Bytes from one connection that wait to be delivered.
    IncomingBytes,
    /// Descriptors from one connection that wait to be delivered.
    IncomingFds,
    /// Services that are being started.
    PendingServiceStarts,
    /// Size of a message, in bytes.
    MessageSize,
    /// Number of descriptors of a message.
    MessageFds,
    /// Connections that have not called Hello.
    IncompleteConnections,
    /// New connections of one user per second.
    ConnectionsPerSecond,
    /// New connections of one user in a burst.
    ConnectionBurst,
    /// Number of traces at the same time.
    Traces,
    /// Size of the rings of all traces, in bytes.
    TraceBytes,
    /// Lanes of one connection.
    LanesPerConnection,
    /// Containers of all users.
    Containers,
    /// Containers of one user.
    ContainersPerUser,
    /// Bytes of the names and the metadata of a container.
    ContainerMetadataBytes,
    /// Connections in one container.
    ConnectionsPerContainer,
    /// Milliseconds until a connection must have authenticated and called Hello.
    AuthTimeout,
    /// Milliseconds that descriptors may wait for their message.
    PendingFdTimeout,
}

impl LimitName {
    /// The name of the limit in the configuration.
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
            Self::LanesPerConnection => "max_lanes_per_connection",
            Self::Containers => "max_containers",
            Self::ContainersPerUser => "max_containers_per_user",
            Self::ContainerMetadataBytes => "max_container_metadata_bytes",
            Self::ConnectionsPerContainer => "max_connections_per_container",
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

/// The limits of `busconfig`, with their names. A timeout of `None` never expires.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BusLimits {
    /// Bytes from one connection that were read and not delivered.
    pub max_incoming_bytes: u64,
    /// Descriptors from one connection that were read and not delivered.
    pub max_incoming_unix_fds: u64,
    /// Bytes queued for one connection.
    pub max_outgoing_bytes: u64,
    /// Descriptors queued for one connection.
    pub max_outgoing_unix_fds: u64,
    /// Size of one message in bytes.
    pub max_message_size: u64,
    /// Number of descriptors of one message.
    pub max_message_unix_fds: u64,
    /// Timeout for the start of a service.
    pub service_start_timeout: Option<Duration>,
    /// Timeout for a connection to authenticate and call Hello.
    pub auth_timeout: Option<Duration>,
    /// Timeout for descriptors to get their message.
    pub pending_fd_timeout: Option<Duration>,
    /// Connections that have called Hello.
    pub max_completed_connections: u64,
    /// Connections that have not called Hello.
    pub max_incomplete_connections: u64,
    /// Connections of one user that have called Hello.
    pub max_connections_per_user: u64,
    /// Services that are being started.
    pub max_pending_service_starts: u64,
    /// Names of one connection: its unique name, the names that it owns, and the names it is queued
    /// for.
    pub max_names_per_connection: u64,
    /// Match rules of one connection.
    pub max_match_rules_per_connection: u64,
    /// Pending calls of one connection.
    pub max_replies_per_connection: u64,
    /// Containers of all users.
    pub max_containers: u64,
    /// Containers of one user.
    pub max_containers_per_user: u64,
    /// Bytes of the type, the name and the metadata of one container.
    pub max_container_metadata_bytes: u64,
    /// Connections in one container whose socket the bus has opened, including those that have not
    /// called Hello.
    pub max_connections_per_container: u64,
    /// Timeout for the reply to a call.
    pub reply_timeout: Option<Duration>,
}

impl Default for BusLimits {
    /// Returns the defaults of a configuration: the limits of a system bus.
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
            max_containers: 512,
            max_containers_per_user: 16,
            max_container_metadata_bytes: 4096,
            max_connections_per_container: 8,
            reply_timeout: None,
        }
    }
}

impl BusLimits {
    /// The limits of the stock configuration of a session bus: in effect, only memory is limited.
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
