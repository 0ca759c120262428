//! What happens to a bus.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU32;

use wire::Message;

use crate::activation::{StartFailure, StartId};
use crate::config::Configuration;
use crate::driver::RingWish;
use crate::end::End;
use crate::policy::Standing;
use crate::undelivered::Undelivered;
use crate::unserved::{Fault, Unserved};

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
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// How many connections were in this place before.
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
pub struct Credentials {
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
pub enum FdPassing {
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
    pub(crate) const fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.fds += other.fds;
    }

    pub(crate) const fn subtract(&mut self, other: Self) {
        self.messages = self.messages.saturating_sub(other.messages);
        self.bytes = self.bytes.saturating_sub(other.bytes);
        self.fds = self.fds.saturating_sub(other.fds);
    }
}

/// The memory of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Which layout it has.
    pub version: u64,
    /// Bytes in it.
    pub bytes: u64,
    /// Bytes of each message that are kept.
    pub kept: u32,
}

/// Who asked for something that the bus has to learn first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asker {
    /// The connection.
    pub peer: PeerId,
    /// The serial of its call.
    pub serial: NonZeroU32,
}

/// What happens to a bus. Messages are valid in their headers; the bus checks their bodies.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A connection was accepted. The handshake has not begun.
    Connected {
        /// The new connection.
        peer: PeerId,
        /// Who is at its other end.
        credentials: Credentials,
    },
    /// The handshake of a connection has ended well.
    Authenticated {
        /// The connection.
        peer: PeerId,
        /// As whom it authenticated, which need not be whom the kernel named; `None` if anonymous.
        uid: Option<u32>,
        /// Whether descriptors may be passed.
        fds: FdPassing,
    },
    /// What the policy asks of a connection was learnt: before [`Self::Authenticated`], and again
    /// before [`Self::Reconfigured`] brings a policy that asks for more.
    Vetted {
        /// The connection.
        peer: PeerId,
        /// What there is to know.
        standing: Standing,
    },
    /// A message came, and with it the descriptors that it announces.
    Message {
        /// Whom it came from.
        from: PeerId,
        /// The message.
        message: Message<'a>,
    },
    /// A message came, but not all of the descriptors that it announces: the daemon had no room for
    /// them.
    DescriptorsLost {
        /// Whom it came from.
        from: PeerId,
        /// The message.
        message: Message<'a>,
    },
    /// Messages that were queued for a connection have left.
    Written {
        /// The connection.
        to: PeerId,
        /// What has left since the last such input.
        amount: Amount,
        /// Bytes of all messages that the daemon has copied in memory since the last such input.
        copied: u64,
    },
    /// The kernel did not take a message that was queued for a connection, which is still there.
    Undelivered(Undelivered<'a>),
    /// A connection has ended; its descriptor is closed, its queue is gone.
    Disconnected {
        /// The connection.
        peer: PeerId,
        /// How that came.
        end: End,
    },
    /// What the process at the other end of a connection is called, which the daemon has looked up
    /// because it wrote of it in the log.
    Described {
        /// The connection.
        peer: PeerId,
        /// What its process is called.
        process: Process,
    },
    /// Somebody who wants to connect is not served, or not at once.
    Unserved(Unserved),
    /// The system did not let the bus do something.
    Fault {
        /// What.
        fault: Fault,
        /// It as a sentence.
        text: String,
    },
    /// The time that [`Bus::next_deadline`](crate::Bus::next_deadline) named has come.
    DeadlinePassed,
    /// What an [`Effect::Identify`](crate::Effect::Identify) asked for.
    Identified {
        /// The connection.
        peer: PeerId,
        /// What there is to know.
        details: Details,
        /// Whom to answer.
        asker: Asker,
    },
    /// What an [`Effect::OpenRing`](crate::Effect::OpenRing) asked for.
    RingOpened {
        /// Whom to answer.
        asker: Asker,
        /// What was asked for.
        wish: RingWish,
        /// What the ring is like, the daemon having its descriptor; or why there is none.
        outcome: Result<Ring, String>,
    },
    /// What an [`Effect::Start`](crate::Effect::Start) asked for has gone wrong. It is no harm to
    /// say that of one that is over.
    StartFailed {
        /// Which start.
        start: StartId,
        /// Why.
        failure: StartFailure,
    },
    /// The configuration was read again, or could not be.
    Reconfigured {
        /// The new configuration, or what is wrong with it: then the old one holds.
        outcome: Result<Box<Configuration>, String>,
    },
}
