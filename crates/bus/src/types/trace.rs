//! Traces: records in memory that other processes read.

use alloc::boxed::Box;

use super::{Body, PeerId, Span, Time};

/// An event that is recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Traced {
    /// A message with its recipients.
    Message(TracedMessage),
    /// A connection has got its unique name.
    Joined(PeerId),
    /// The owner of a well-known name has changed. Only the flight recorder records it.
    Owner(TracedOwner),
}

/// A well-known name whose owner has changed. Connections are identified by the number in their
/// unique name, because the old owner may be gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedOwner {
    /// The well-known name with a new owner.
    pub name: Box<str>,
    /// The previous owner, if any.
    pub old: Option<u64>,
    /// The new owner, if any.
    pub new: Option<u64>,
}

/// A message that is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedMessage {
    /// The header, or the whole message: the head of the deliveries that belong to it.
    pub head: Span,
    /// The body that follows the head.
    pub body: Body,
    /// The sender; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// The recipient that it is addressed to, if any.
    pub addressee: Option<PeerId>,
    /// The time of its arrival, if it was held for a service before the present input.
    pub since: Option<Time>,
    /// The time of the match rule search, if there was one and the bus has a [`Stopwatch`].
    pub matching: Option<MatchingTime>,
    /// The traces that record it.
    pub audience: TraceAudience,
}

/// A counter that runs at a constant rate. Its readings are recorded in traces and do not influence
/// decisions.
pub type Stopwatch = fn() -> u64;

/// Two readings of a [`Stopwatch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchingTime {
    /// The reading before the search.
    pub begun: u64,
    /// The reading after the search.
    pub ended: u64,
}

/// The traces that record a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceAudience {
    /// All traces of all messages, and the flight recorder.
    All,
    /// The trace of one connection, which has rules.
    One(PeerId),
}

/// A ring of memory that the daemon must create or open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceRequest {
    /// A new ring for a trace.
    New {
        /// Bytes of the ring: a power of two from [`RING_BYTES_MIN`] to [`RING_BYTES_MAX`].
        bytes: u64,
        /// Maximum number of bytes that are kept of each message.
        kept: u32,
        /// The events that are recorded in the ring.
        contents: RingContents,
    },
    /// The ring of the flight recorder.
    FlightRecorder,
}

/// The events that are recorded in a ring, in addition to new and ending connections and to starts
/// of services.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingContents {
    /// True to record all messages; false to record only messages that match a rule.
    pub all_messages: bool,
    /// True to record the programs of new connections.
    pub programs: bool,
}

/// Facts about the ring of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingFacts {
    /// The version of its layout.
    pub version: u64,
    /// Size of the ring in bytes.
    pub bytes: u64,
    /// Maximum number of bytes that are kept of each message.
    pub kept: u32,
}

/// Size of the smallest ring, in bytes.
pub const RING_BYTES_MIN: u64 = 64 << 10;

/// Size of the largest ring, in bytes.
pub const RING_BYTES_MAX: u64 = 1 << 30;
