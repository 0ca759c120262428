//! Connections: their ids, and what is known of the processes behind them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU32;

/// A connection, as the bus and whoever moves its bytes call it.
///
/// The daemon chooses it when it accepts: an index into its own table, and a generation that tells
/// the connection from earlier ones with the same index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PeerId {
    index: u32,
    generation: u32,
}

impl PeerId {
    /// The connection in place `index`, the `generation`th to be there.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The place in the table.
    #[inline]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// How many connections were in this place before.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// In one step, since it is hashed for every call.
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

/// Who is at the other end of a connection, as the kernel said when it was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConnectionCredentials {
    /// The process that connected.
    pub pid: Option<u32>,
    /// Its user.
    pub uid: Option<u32>,
}

/// What else the kernel knows of the process at the other end of a connection. Few ever ask for
/// it, and telling it takes several system calls, so it is told only then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// All its groups, ascending, the primary one among them; only if all are known.
    pub groups: Option<Box<[u32]>>,
    /// Its security label, without a terminating zero.
    pub security_label: Option<Box<[u8]>>,
    /// Whether the daemon holds a descriptor of the process.
    pub pidfd: PidFd,
}

/// What a process is called, for people. It chose most of that itself, so nothing is decided by it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Process {
    /// The name of the program.
    pub comm: Option<Box<str>>,
    /// The unit of the service manager that it belongs to.
    pub unit: Option<Box<str>>,
    /// Its control group, where it belongs to no unit.
    pub cgroup: Option<Box<str>>,
}

impl Process {
    /// Whether anything is known of it.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.comm.is_some() || self.unit.is_some() || self.cgroup.is_some()
    }
}

/// Whether the daemon holds a descriptor of a connection's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PidFd {
    /// The kernel gave none.
    #[default]
    Absent,
    /// The daemon has one and can pass it on.
    Held,
}

/// Whether descriptors may be passed over a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DescriptorPassing {
    /// Not asked for in the handshake, or not possible.
    #[default]
    Refused,
    /// Agreed in the handshake.
    Agreed,
}

/// Messages, bytes and descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Whole messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
    /// Descriptors.
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

/// A call that the bus answers later, once it has learned something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallId {
    /// The connection that made the call.
    pub peer: PeerId,
    /// The serial of the call.
    pub serial: NonZeroU32,
}

/// A connection, as it was known at some moment. The history keeps this after the connection has
/// ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeerSnapshot {
    /// The connection. `None` for a service that did not start, for a peer that was not served, and
    /// for the bus itself.
    pub peer: Option<PeerId>,
    /// Its unique name, if it had one.
    pub unique_name: Option<Box<str>>,
    /// Well-known names that it owned, the first [`NAMES_MAX`] of them.
    pub names: Vec<Box<str>>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its user.
    pub uid: Option<u32>,
    /// What the process is called, if it was looked up.
    pub process: Process,
}

impl PeerSnapshot {
    /// Whether both are the same process, or the same connection if no process is known. Peers that
    /// were not served are the same if their user is: each attempt may be a new process.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_process = self.pid.is_some() && self.pid == other.pid && self.uid == other.uid;
        let same_peer = self.peer.is_some() && self.peer == other.peer;
        let same_outside = self.peer.is_none()
            && other.peer.is_none()
            && (&self.names, self.uid) == (&other.names, other.uid);
        same_process || same_peer || same_outside
    }
}

/// Well-known names that a [`PeerSnapshot`] keeps.
pub const NAMES_MAX: usize = 3;
