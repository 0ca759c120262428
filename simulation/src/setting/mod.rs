//! The settings of a simulated bus: its limits, policy, users and services.

mod config;

use std::fmt;

use kernel::machine::Chance;

/// A deviation from a session bus on which no limit is ever reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// The queue of a peer that does not read holds little.
    TightQueues,
    /// The policy is [`SimulatedPolicy::Open`] at first, and changes with each reload.
    ChangingPolicy,
    /// Some services are activatable: see [`SERVICES`].
    Services,
    /// A connection may have few names, rules and calls: see [`NAMES_MAX`] and the constants after
    /// it.
    LowLimits,
    /// A callee must reply within [`REPLY_TIMEOUT_MS`].
    Deadlines,
    /// There are several users, with different policies.
    Users,
    /// Some peers eavesdrop, also on messages to and from the bus.
    Eavesdroppers,
    /// Some peers do not negotiate passing descriptors.
    WithoutDescriptors,
    /// Messages must be short and have few descriptors: see [`MESSAGE_LEN_MAX`] and
    /// [`MESSAGE_FDS_MAX`].
    SmallMessages,
    /// The kernel rejects some writes ([`Shortage`](kernel::transfer::TransferShortage)), and the
    /// bus may open only [`OPEN_FILES_MAX`] files.
    KernelShortages,
    /// Peers create containers, and other peers connect to them.
    Containers,
}

const FEATURES: [Feature; 11] = [
    Feature::TightQueues,
    Feature::ChangingPolicy,
    Feature::Services,
    Feature::LowLimits,
    Feature::Deadlines,
    Feature::Users,
    Feature::Eavesdroppers,
    Feature::WithoutDescriptors,
    Feature::SmallMessages,
    Feature::KernelShortages,
    Feature::Containers,
];

/// The settings of a bus: a subset of the features.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SimulationSetting {
    has: [bool; FEATURES.len()],
}

impl SimulationSetting {
    /// Selects random features by a seed.
    pub fn of(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0xfea7);
        Self { has: FEATURES.map(|_| chance.once_in(4)) }
    }

    /// Selects these features and no others.
    pub fn with(features: &[Feature]) -> Self {
        Self { has: FEATURES.map(|feature| features.contains(&feature)) }
    }

    /// True if this feature is selected.
    pub const fn has(self, feature: Feature) -> bool {
        self.has[feature as usize]
    }

    /// Returns how many messages a peer may queue before it sends them. With tight queues this must
    /// be small, so that the monitor's own queue never overflows.
    pub const fn backlog_max(self) -> usize {
        if self.has(Feature::TightQueues) { 6 } else { 200 }
    }

    /// Returns how many peers may be connected at the same time.
    pub const fn peers_max(self) -> usize {
        if self.has(Feature::TightQueues) {
            12
        } else if self.has(Feature::KernelShortages) {
            // Each peer needs a descriptor of the bus.
            40
        } else {
            usize::MAX
        }
    }

    /// Returns the inverse of the probability that a peer stops or resumes reading when it could.
    pub const fn stall_once_in(self) -> usize {
        if self.has(Feature::TightQueues) { 4 } else { 20 }
    }

    /// Returns the limit of open files, if there is one.
    pub fn open_files_max(self) -> Option<u64> {
        self.has(Feature::KernelShortages).then_some(OPEN_FILES_MAX)
    }

    /// Returns the largest size of an argument, in bytes.
    pub const fn body_max(self) -> usize {
        if self.has(Feature::TightQueues) { 1_000 } else { 300_000 }
    }

    /// Returns `max` if the feature is selected, or a value that is never reached.
    const fn limit(self, feature: Feature, max: u64) -> u64 {
        if self.has(feature) { max } else { UNREACHABLE }
    }

    /// Returns the highest values that one connection may have, by the keys of its statistics.
    pub const fn peaks(self) -> [(&'static str, u64); 3] {
        // One message may exceed the limit of the queue.
        let queue = self.limit(Feature::TightQueues, QUEUE_MAX + ROOM_FOR_ONE);
        [
            ("PeakOutgoingBytes", queue),
            ("PeakMatchRules", self.limit(Feature::LowLimits, RULES_MAX as u64)),
            ("PeakBusNames", self.limit(Feature::LowLimits, NAMES_MAX as u64)),
        ]
    }

    /// Returns the activatable services.
    pub fn services(self) -> &'static [(&'static str, ServiceBehavior)] {
        if self.has(Feature::Services) { &SERVICES } else { &[] }
    }

    /// Returns the users that run peers.
    pub const fn users(self) -> &'static [u32] {
        if self.has(Feature::Users) { &[OWNER, MUTED, DEAFENED] } else { &[OWNER] }
    }

    /// True if a message may have this length in bytes and this many descriptors.
    pub const fn allows(self, len: usize, descriptors: usize) -> bool {
        len as u64 <= self.limit(Feature::SmallMessages, MESSAGE_LEN_MAX)
            && descriptors as u64 <= self.limit(Feature::SmallMessages, MESSAGE_FDS_MAX)
    }
}

impl fmt::Debug for SimulationSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(FEATURES.iter().filter(|feature| self.has(**feature))).finish()
    }
}

/// The abstract name of the bus's socket.
pub const BUS_SOCKET: &str = "simulation";

/// The user that owns the bus.
pub const OWNER: u32 = 500;

/// A user that may not send calls of [`CALL_DENIED_TO_MUTED`]. Policies need accounts that exist on
/// the system, and these IDs exist everywhere.
pub const MUTED: u32 = 1;

/// A user that may not receive signals of [`SIGNAL_DENIED_TO_DEAFENED`] or own [`OWN_DENIED`].
pub const DEAFENED: u32 = 2;

/// A limit that is never reached.
const UNREACHABLE: u64 = 1_000_000_000;

/// The limit of queued bytes per connection with [`Feature::TightQueues`].
pub const QUEUE_MAX: u64 = 60_000;
/// More bytes than the longest message with tight queues, see [`SimulationSetting::body_max`].
const ROOM_FOR_ONE: u64 = 2000;
/// The limit of names per connection with [`Feature::LowLimits`]. It includes the unique name and
/// the names that the connection is queued for.
pub const NAMES_MAX: usize = 3;
/// The limit of match rules per connection with [`Feature::LowLimits`].
pub const RULES_MAX: usize = 4;
/// The limit of pending calls per connection with [`Feature::LowLimits`].
pub const REPLIES_MAX: usize = 5;
/// The limit of connections per user with [`Feature::LowLimits`].
pub const CONNECTIONS_MAX: usize = 8;
/// The limit of containers per user with [`Feature::LowLimits`].
pub const CONTAINERS_OF_USER_MAX: usize = 2;
/// The limit of connections per container with [`Feature::LowLimits`].
const CONNECTIONS_OF_CONTAINER_MAX: u64 = 3;
/// The limit of bytes per message with [`Feature::SmallMessages`]. All calls of the bus that the
/// world needs are shorter.
pub const MESSAGE_LEN_MAX: u64 = 600;
/// The limit of descriptors per message with [`Feature::SmallMessages`].
pub const MESSAGE_FDS_MAX: u64 = 2;
/// The limit of open files of the bus with [`Feature::KernelShortages`].
pub const OPEN_FILES_MAX: u64 = 256;
/// The limit of unread descriptors in the sockets of one user's peers, with
/// [`Feature::KernelShortages`].
pub const UNREAD_DESCRIPTORS_MAX: usize = OPEN_FILES_MAX as usize / 4;
/// The limit of messages held for activation with [`Feature::LowLimits`].
pub const STARTS_MAX: usize = 6;

/// The time limit for the start of a service, in milliseconds.
pub const START_TIMEOUT_MS: u64 = 5000;
/// The time limit for a reply with [`Feature::Deadlines`], in milliseconds.
pub const REPLY_TIMEOUT_MS: u64 = 4000;

/// The behavior of a service after it is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceBehavior {
    /// The service connects and requests its name.
    Connects,
    /// The service exits immediately.
    Exits,
    /// The service does nothing until it is killed.
    Hangs,
}

/// The activatable names and the behavior of their services.
pub const SERVICES: [(&str, ServiceBehavior); 3] = [
    ("com.service.comes", ServiceBehavior::Connects),
    ("com.service.ends", ServiceBehavior::Exits),
    ("com.service.hangs", ServiceBehavior::Hangs),
];

/// The policy that applies to all users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SimulatedPolicy {
    /// The policy allows everything.
    #[default]
    Open,
    /// Denies sending signals of [`SEND_DENIED`], receiving calls of [`RECEIVE_DENIED`] and owning
    /// [`OWN_DENIED`].
    Strict,
}

impl SimulatedPolicy {
    /// Returns the policy after the next reload.
    pub const fn next(self, setting: SimulationSetting) -> Self {
        match self {
            Self::Open if setting.has(Feature::ChangingPolicy) => Self::Strict,
            _ => Self::Open,
        }
    }
}

/// The interface whose signals the strict policy forbids to send.
pub const SEND_DENIED: &str = "com.example.Three";
/// The interface whose calls the strict policy forbids to receive.
pub const RECEIVE_DENIED: &str = "com.example.Two";
/// The name that the strict policy forbids to own.
pub const OWN_DENIED: &str = "com.c";
/// The interface whose calls to other peers may not be received by eavesdropping.
pub const EAVESDROP_DENIED: &str = "com.example.Three";
/// The interface whose calls [`MUTED`] may not send.
pub const CALL_DENIED_TO_MUTED: &str = "com.example.One";
/// The interface whose signals [`DEAFENED`] may not receive.
pub const SIGNAL_DENIED_TO_DEAFENED: &str = "com.example.One";
