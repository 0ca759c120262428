//! Connections: their ids, and facts about their processes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::ContainerDescription;

/// The id of a connection, shared by the bus and the daemon.
///
/// The daemon chooses it when it accepts a connection: an index into its own table, and a
/// generation that distinguishes the connection from earlier ones with the same index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PeerId {
    index: u32,
    generation: u32,
}

impl PeerId {
    /// The id of a connection at `index` of the table, in its `generation`th use.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// Index into the table of connections.
    #[inline]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Number of connections that used this index before.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// Writes index and generation in one step, because ids are hashed for every call.
impl Hash for PeerId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.index) << 32 | u64::from(self.generation));
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}", self.index, self.generation)
    }
}

/// The credentials of the socket, as the kernel reported them when the connection was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ConnectionCredentials {
    /// The process that connected.
    pub pid: Option<u32>,
    /// The user of the process.
    pub uid: Option<u32>,
}

/// More facts that the kernel reports about the process of a connection. Reading them takes several
/// system calls and few peers ask, so they are read only on request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// All its groups in ascending order, including the primary group; `None` unless all are known.
    pub groups: Option<Box<[u32]>>,
    /// Its security label, without a terminating zero byte.
    pub security_label: Option<Box<[u8]>>,
    /// Whether the daemon holds a descriptor of the process.
    pub pidfd: PidFd,
}

/// The description of a process for people. The process controls most of it, so it does not
/// influence decisions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Process {
    /// The name of the program.
    pub comm: Option<Box<str>>,
    /// The systemd unit that it belongs to.
    pub unit: Option<Box<str>>,
    /// Its control group, if it does not belong to a unit.
    pub cgroup: Option<Box<str>>,
}

impl Process {
    /// True if any of the fields is known.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.comm.is_some() || self.unit.is_some() || self.cgroup.is_some()
    }
}

/// Whether the daemon holds a descriptor of a connection's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PidFd {
    /// The kernel did not provide a descriptor.
    #[default]
    Absent,
    /// The daemon holds one and can send it.
    Held,
}

/// Whether file descriptors can be passed over a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum DescriptorPassing {
    /// The peer did not negotiate it, or it is not possible.
    #[default]
    Refused,
    /// The peer negotiated it in the handshake.
    Agreed,
}

/// A number of messages with their bytes and descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Amount {
    /// Number of complete messages.
    pub messages: u64,
    /// Number of bytes in them.
    pub bytes: u64,
    /// Number of file descriptors in them.
    pub fds: u64,
}

impl Amount {
    #[inline]
    pub(crate) const fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.fds += other.fds;
    }

    #[inline]
    pub(crate) const fn subtract(&mut self, other: Self) {
        self.messages = self.messages.saturating_sub(other.messages);
        self.bytes = self.bytes.saturating_sub(other.bytes);
        self.fds = self.fds.saturating_sub(other.fds);
    }
}

/// A call that the bus answers later, when it has the required facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallId {
    /// The connection that made the call.
    pub peer: PeerId,
    /// The serial of the call.
    pub serial: NonZeroU32,
}

/// A description of a connection at some moment. The history keeps it after the connection has
/// ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PeerSnapshot {
    /// The connection. `None` for a service that did not start, for a rejected peer, and for the
    /// bus itself.
    pub id: Option<PeerId>,
    /// Its unique name, if it had one.
    pub unique_name: Option<Box<str>>,
    /// The first [`NAMES_MAX`] well-known names that it owned.
    pub names: Vec<Box<str>>,
    /// The process of the connection.
    pub pid: Option<u32>,
    /// The user of the connection.
    pub uid: Option<u32>,
    /// The description of its process, if it was looked up.
    pub process: Process,
    /// The container that it is in, if any.
    pub container: Option<Box<ContainerDescription>>,
}

impl PeerSnapshot {
    /// True if both are the same process, or the same connection if the process is unknown.
    /// Rejected peers are the same if their user is the same, because each attempt may be a new
    /// process.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_process = self.pid.is_some() && self.pid == other.pid && self.uid == other.uid;
        let same_peer = self.id.is_some() && self.id == other.id;
        let same_outside = self.id.is_none()
            && other.id.is_none()
            && (&self.names, self.uid) == (&other.names, other.uid);
        same_process || same_peer || same_outside
    }
}

/// Maximum number of well-known names in a [`PeerSnapshot`].
pub const NAMES_MAX: usize = 3;
