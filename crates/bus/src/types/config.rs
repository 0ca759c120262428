//! What a bus is told at its start and when its configuration is read again.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use wire::guid::Guid;

use super::{BusLimits, Services};
use crate::policy::Policy;

/// Who the bus itself is. Does not change while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BusIdentity {
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
    pub limits: BusLimits,
    /// All limits of those users for whom some are others.
    pub user_limits: BTreeMap<u32, BusLimits>,
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
    pub fn limits_of(&self, uid: Option<u32>) -> &BusLimits {
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
