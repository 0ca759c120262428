//! The identity and the configuration of a bus.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};
use wire::guid::Guid;

use super::{BusLimits, Services};
use crate::policy::Policy;

/// The identity of the bus. It changes only if the bus [continues](crate::Bus::move_to) in another
/// process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BusIdentity {
    /// The id that GetId returns. Each listening address has its own id.
    pub id: Guid,
    /// The id of the machine: 32 hexadecimal digits, as in /etc/machine-id.
    pub machine_id: Option<String>,
    /// The process id of the bus.
    pub pid: u32,
    /// The user of the bus. The bus grants it the same privileges as root.
    pub uid: u32,
    /// The security label of the bus, without a terminating zero byte.
    #[serde(with = "serde_bytes")]
    pub security_label: Option<Box<[u8]>>,
}

/// The settings that a reload of the configuration can change.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// The limits per connection, per user and in total.
    pub limits: BusLimits,
    /// The complete limits of each user that has different limits.
    pub user_limits: BTreeMap<u32, BusLimits>,
    /// The access control policy of the bus.
    pub policy: Policy,
    /// The SELinux context of each name that has one other than the context of the bus.
    pub security_contexts: BTreeMap<Box<str>, Box<str>>,
    /// The services that can be activated.
    pub services: Services,
    /// Whether services run as other users, so that peers must not set their environment.
    pub service_helper: ServiceHelper,
    /// Whether the bus validates the bodies of messages.
    pub body_validation: BodyValidation,
    /// The limits on traces.
    pub traces: TraceLimits,
    /// The limits on lanes.
    pub lanes: LaneLimits,
    /// Whether the bus records all messages in its own ring.
    pub flight_recorder: FlightRecorder,
}

impl Configuration {
    /// The limits for connections of a user.
    pub fn limits_of(&self, uid: Option<u32>) -> &BusLimits {
        uid.and_then(|uid| self.user_limits.get(&uid)).unwrap_or(&self.limits)
    }
}

/// Whether the bus validates the bodies of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum BodyValidation {
    /// The bus validates bodies, and disconnects a peer that sends an invalid one.
    #[default]
    On,
    /// The bus does not validate bodies. An untrusted peer can then make others disconnect from the
    /// bus because of an invalid body. This setting exists to measure the cost of validation.
    Off,
}

/// The limits on all traces together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceLimits {
    /// Maximum number of traces at the same time.
    pub max_traces: u64,
    /// Maximum size of their rings, in bytes.
    pub max_trace_bytes: u64,
}

impl Default for TraceLimits {
    fn default() -> Self {
        Self { max_traces: 8, max_trace_bytes: 256 << 20 }
    }
}

/// The limits on lanes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LaneLimits {
    /// Maximum number of lanes of one connection; 0 if no connection may have one.
    pub max_lanes_per_connection: u64,
}

impl Default for LaneLimits {
    fn default() -> Self {
        Self { max_lanes_per_connection: 32 }
    }
}

/// Whether the bus records all messages in its own ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum FlightRecorder {
    /// The bus does not record messages.
    #[default]
    Off,
    /// The bus records all messages.
    On,
}

/// Whether a privileged helper starts the services.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ServiceHelper {
    /// Services are child processes of the bus, with its privileges and environment.
    #[default]
    Absent,
    /// A launch helper starts services, with their own privileges and environment.
    Present,
}
