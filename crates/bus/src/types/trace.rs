//! Traces: what is written into memory that other processes read.

use alloc::boxed::Box;

use super::{Body, PeerId, Span, Time};

/// What is written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Traced {
    /// A message.
    Message(TracedMessage),
    /// A connection has got its name.
    Joined(PeerId),
    /// A well-known name has another owner. Only the flight recorder gets it.
    Owner(TracedOwner),
}

/// A well-known name that has another owner. Connections are given by the number in their unique
/// name, since the old one may be gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedOwner {
    /// The name.
    pub name: Box<str>,
    /// The owner so far.
    pub old: Option<u64>,
    /// The owner from now on.
    pub new: Option<u64>,
}

/// A message that is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedMessage {
    /// The header, or all of it: the head of the sends that belong to it.
    pub head: Span,
    /// What comes behind.
    pub body: Body,
    /// Who sent it; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// For whom it is, if that is somebody.
    pub addressee: Option<PeerId>,
    /// When it came, if that was earlier than what is being handled: it has waited for a service.
    pub since: Option<Time>,
    /// When the bus searched its match rules for the recipients, if it did so and has a [`Stopwatch`].
    pub matching: Option<MatchingTime>,
    /// Who wants it.
    pub audience: TraceAudience,
}

/// A counter that runs at a constant rate. Its readings are written into traces and decide nothing.
pub type Stopwatch = fn() -> u64;

/// Two readings of a [`Stopwatch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchingTime {
    /// Before the search.
    pub begun: u64,
    /// After it.
    pub ended: u64,
}

/// Who wants to have a message written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceAudience {
    /// All who want every message, and the flight recorder.
    All,
    /// A connection that wants some.
    One(PeerId),
}

/// A ring of memory that the daemon is to make or to hand out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceRequest {
    /// A ring for a trace of its own.
    New {
        /// Bytes of the ring: a power of two from [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`].
        bytes: u64,
        /// Bytes of each message that are kept.
        kept: u32,
        /// What goes there.
        contents: RingContents,
    },
    /// That of the flight recorder.
    FlightRecorder,
}

/// What goes into the ring of a trace besides connections that come and go, and services that start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingContents {
    /// All messages, not only those that rules ask for.
    pub all_messages: bool,
    /// The programs of connections that come.
    pub programs: bool,
}

/// The memory of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingFacts {
    /// Which layout it has.
    pub version: u64,
    /// Bytes in it.
    pub bytes: u64,
    /// Bytes of each message that are kept.
    pub kept: u32,
}

/// Bytes of the smallest ring.
pub const RING_BYTES_MIN: u64 = 64 << 10;

/// Bytes of the largest ring.
pub const RING_BYTES_MAX: u64 = 1 << 30;
