//! What a bus is told at its start and when its configuration is read again.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

use wire::guid::Guid;

use crate::activation::Services;
use crate::policy::Policy;

/// Who the bus itself is. Does not change while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The id that GetId returns; each listening address has one of its own.
    pub id: Guid,
    /// The machine's id: 32 hexadecimal digits, as in /etc/machine-id.
    pub machine_id: Option<String>,
    /// The process of the bus.
    pub pid: u32,
    /// The user of the bus, who has the rights of the superuser on it.
    pub uid: u32,
    /// The security label of the bus, without a terminating zero.
    pub security_label: Option<Box<[u8]>>,
}

/// Everything that reading the configuration again may change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Configuration {
    /// What each connection, and all together, may use.
    pub limits: Limits,
    /// All limits of those users for whom some are others.
    pub user_limits: BTreeMap<u32, Limits>,
    /// Who may do what.
    pub policy: Policy,
    /// Under which SELinux context a name is owned, where it is not that of the bus.
    pub security_contexts: BTreeMap<Box<str>, Box<str>>,
    /// What can be started.
    pub services: Services,
    /// Whether the programs of this bus run as other users, so that nobody may set their environment.
    pub service_helper: ServiceHelper,
    /// Whether the bodies of messages are checked before they are passed on.
    pub body_validation: BodyValidation,
    /// What traces may use.
    pub traces: TraceLimits,
    /// Whether all messages are written into a ring of the bus's own.
    pub flight_recorder: FlightRecorder,
}

impl Configuration {
    /// The limits that hold for the connections of a user.
    pub fn limits_of(&self, uid: Option<u32>) -> &Limits {
        uid.and_then(|uid| self.user_limits.get(&uid)).unwrap_or(&self.limits)
    }
}

/// Whether the bodies of messages are checked before they are passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BodyValidation {
    /// They are, and who sends an invalid one is disconnected.
    #[default]
    On,
    /// They are not: a peer that is not trusted can then have others take it for the fault of the
    /// bus. It is there to measure what the check costs.
    Off,
}

/// What all traces together may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceLimits {
    /// Traces at the same time.
    pub max_traces: u64,
    /// Bytes of their rings.
    pub max_trace_bytes: u64,
}

impl Default for TraceLimits {
    fn default() -> Self {
        Self { max_traces: 8, max_trace_bytes: 256 << 20 }
    }
}

/// Whether all messages are written into a ring of the bus's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlightRecorder {
    /// They are not.
    #[default]
    Off,
    /// They are.
    On,
}

/// Whether services are started through a privileged helper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ServiceHelper {
    /// Services are children of the bus, with its rights and the environment it was given.
    #[default]
    Absent,
    /// Services are started by a helper, with rights and environment of their own.
    Present,
}

/// The limits of `busconfig`, under their names there. Times that are `None` never pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
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

impl Default for Limits {
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

impl Limits {
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
