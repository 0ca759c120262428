//! How a bus is set up.

mod config;

use std::fmt;

use kernel::machine::Chance;

/// What makes a bus another one than that of a session on which nobody reaches a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// Little may wait for those who do not read.
    TightQueues,
    /// The policy is [`SimulatedPolicy::Open`] at first, and another one each time that the configuration is
    /// read again.
    ChangingPolicy,
    /// There are services that can be started: see [`SERVICES`].
    Services,
    /// Nobody may have many names, rules or calls: see [`NAMES_MAX`] and its like.
    FewPlaces,
    /// Who was called has so much time to answer: [`REPLY_TIMEOUT_MS`].
    Deadlines,
    /// There are several users, and not all may do the same.
    Users,
    /// Some ask for what is addressed to others, the bus among them.
    Eavesdroppers,
    /// Some do not agree to pass descriptors.
    WithoutDescriptors,
    /// No message may be long or have many descriptors: see [`MESSAGE_LEN_MAX`] and
    /// [`MESSAGE_FDS_MAX`].
    SmallMessages,
    /// The kernel does not take every write ([`Shortage`](kernel::transfer::TransferShortage)), and the bus
    /// may have only [`OPEN_FILES_MAX`].
    KernelShortages,
}

const FEATURES: [Feature; 10] = [
    Feature::TightQueues,
    Feature::ChangingPolicy,
    Feature::Services,
    Feature::FewPlaces,
    Feature::Deadlines,
    Feature::Users,
    Feature::Eavesdroppers,
    Feature::WithoutDescriptors,
    Feature::SmallMessages,
    Feature::KernelShortages,
];

/// How a bus is set up: any of the features.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SimulationSetting {
    has: [bool; FEATURES.len()],
}

impl SimulationSetting {
    /// That of a seed.
    pub fn of(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0xfea7);
        Self { has: FEATURES.map(|_| chance.once_in(4)) }
    }

    /// Whether a feature is among those.
    pub const fn has(self, feature: Feature) -> bool {
        self.has[feature as usize]
    }

    /// How much somebody says at most before any of it is sent. What is lost must not be lost in
    /// the queue of the monitor.
    pub const fn backlog_max(self) -> usize {
        if self.has(Feature::TightQueues) { 6 } else { 200 }
    }

    /// How many are there at the same time at most.
    pub const fn peers_max(self) -> usize {
        if self.has(Feature::TightQueues) {
            12
        } else if self.has(Feature::KernelShortages) {
            // They must fit into the descriptors of the bus.
            40
        } else {
            usize::MAX
        }
    }

    /// Once in how many times that it could somebody begins to read nothing, or ends that.
    pub const fn deaf_once_in(self) -> usize {
        if self.has(Feature::TightQueues) { 4 } else { 20 }
    }

    /// The limit of open files, if there is one.
    pub fn open_files_max(self) -> Option<u64> {
        self.has(Feature::KernelShortages).then_some(OPEN_FILES_MAX)
    }

    /// Bytes of a large body.
    pub const fn body_max(self) -> usize {
        if self.has(Feature::TightQueues) { 1_000 } else { 300_000 }
    }

    /// What is allowed at most where a feature limits it, and so much that nobody reaches it where not.
    const fn most(self, feature: Feature, max: u64) -> u64 {
        if self.has(feature) { max } else { ANY }
    }

    /// What one connection may have had at most, by the keys of its statistics.
    pub const fn peaks(self) -> [(&'static str, u64); 3] {
        // One message may go beyond the limit.
        let queue = self.most(Feature::TightQueues, QUEUE_MAX + ROOM_FOR_ONE);
        [
            ("PeakOutgoingBytes", queue),
            ("PeakMatchRules", self.most(Feature::FewPlaces, RULES_MAX as u64)),
            ("PeakBusNames", self.most(Feature::FewPlaces, NAMES_MAX as u64)),
        ]
    }

    /// What can be started.
    pub fn services(self) -> &'static [(&'static str, Fate)] {
        if self.has(Feature::Services) { &SERVICES } else { &[] }
    }

    /// Who there is.
    pub const fn users(self) -> &'static [u32] {
        if self.has(Feature::Users) { &[OWNER, MUTED, DEAFENED] } else { &[OWNER] }
    }

    /// Whether a message may be so long, with so many descriptors.
    pub const fn allows(self, len: usize, descriptors: usize) -> bool {
        len as u64 <= self.most(Feature::SmallMessages, MESSAGE_LEN_MAX)
            && descriptors as u64 <= self.most(Feature::SmallMessages, MESSAGE_FDS_MAX)
    }
}

impl fmt::Debug for SimulationSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(FEATURES.iter().filter(|feature| self.has(**feature))).finish()
    }
}

/// The user of the bus.
pub const OWNER: u32 = 500;

/// One who may not send calls of [`UNCALLED`]. Policies are for accounts that a system has: every one
/// has those with these numbers.
pub const MUTED: u32 = 1;

/// One who may not receive signals of [`UNHEARD`], nor own [`UNOWNED`].
pub const DEAFENED: u32 = 2;

/// So much that nobody reaches it.
const ANY: u64 = 1_000_000_000;

/// Bytes that may wait for somebody where little may.
pub const QUEUE_MAX: u64 = 60_000;
/// More than the longest message has there, see [`SimulationSetting::body_max`].
const ROOM_FOR_ONE: u64 = 2000;
/// Names that somebody may have where there are few places: its own, and those that it waits for,
/// count.
pub const NAMES_MAX: usize = 3;
/// Rules that somebody may have there.
pub const RULES_MAX: usize = 4;
/// Calls of somebody that may wait for an answer there.
pub const REPLIES_MAX: usize = 5;
/// Connections of one user there.
pub const CONNECTIONS_MAX: usize = 8;
/// Bytes of a message where none may be long. Anything that the bus must be asked is shorter.
pub const MESSAGE_LEN_MAX: u64 = 600;
/// Descriptors of a message there.
pub const MESSAGE_FDS_MAX: u64 = 2;
/// Descriptors that the bus may have open where the kernel does not take every write.
pub const OPEN_FILES_MAX: u64 = 256;
/// Descriptors in sockets that the peers of one user may leave unread there.
pub const UNREAD_DESCRIPTORS_MAX: usize = OPEN_FILES_MAX as usize / 4;
/// How much may wait for services where there are few places.
pub const STARTS_MAX: usize = 6;

/// How long a service may take to come.
pub const START_TIMEOUT_MS: u64 = 5000;
/// How long an answer may take, where that is limited.
pub const REPLY_TIMEOUT_MS: u64 = 4000;

/// What becomes of a service that is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It comes, and takes its name.
    Comes,
    /// It ends at once.
    Ends,
    /// It does nothing, until it is killed.
    Hangs,
}

/// Names for which something can be started, and what becomes of it.
pub const SERVICES: [(&str, Fate); 3] = [
    ("com.service.comes", Fate::Comes),
    ("com.service.ends", Fate::Ends),
    ("com.service.hangs", Fate::Hangs),
];

/// What is allowed to everybody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SimulatedPolicy {
    /// Everything.
    #[default]
    Open,
    /// Not to send signals of [`UNSENT`], to receive calls of [`UNRECEIVED`], to own [`UNOWNED`].
    Strict,
}

impl SimulatedPolicy {
    /// The one that comes behind it.
    pub const fn next(self, setting: SimulationSetting) -> Self {
        match self {
            Self::Open if setting.has(Feature::ChangingPolicy) => Self::Strict,
            _ => Self::Open,
        }
    }
}

/// What the strict policy forbids.
pub const UNSENT: &str = "com.example.Three";
/// The same.
pub const UNRECEIVED: &str = "com.example.Two";
/// The same.
pub const UNOWNED: &str = "com.c";
/// Calls that nobody may see that are addressed to others.
pub const UNOVERHEARD: &str = "com.example.Three";
/// What [`MUTED`] may not call.
pub const UNCALLED: &str = "com.example.One";
/// What [`DEAFENED`] may not hear.
pub const UNHEARD: &str = "com.example.One";
