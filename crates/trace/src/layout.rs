//! Where what stands in the memory of a ring.
//!
//! All numbers are in the byte order of the machine: a ring does not leave it. Positions count the
//! bytes that were ever written; a position modulo the length of the ring is a place in it. The ring
//! is divided into [`SEGMENTS`] segments, and for each the header says at which position the first
//! record begins that begins there, so that a reader who was overtaken finds a record again.
//!
//! | offset | bytes | what |
//! | --- | --- | --- |
//! | 0 | 8 | `DLGTRACE` |
//! | 8 | 8 | version of this layout |
//! | 16 | 8 | bytes in the ring |
//! | 24 | 8 | nanoseconds from the monotonic clock to the time of day, signed |
//! | 32 | 8 | bytes kept of each message |
//! | 64 | 8 | position up to which the writer may be writing |
//! | 72 | 8 | position up to which everything is written |
//! | 80 | 8 | 1 when the writer has stopped |
//! | 512 | 512 | the first position of each segment |
//! | 4096 | | the ring |
//!
//! A record begins at a multiple of 8 and is never split at the end of the ring: the rest is filled
//! by a record that says nothing.
//!
//! | word | what |
//! | --- | --- |
//! | 0 | lower half: bytes in the record, these included; upper half: what it is, a [`Kind`](crate::record::Kind) |
//! | 1 | lower half: how many records were written before it, upper half: how many messages were; both wrap around |
//! | 2 | when, in nanoseconds of the monotonic clock |
//! | 3 | what it says |

use std::time::Duration;

use crate::record::{MESSAGE_FIXED, Place, halves};

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"DLGTRACE";
/// The version of this layout.
pub const VERSION: u64 = 2;

/// The layouts that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// Version 1: a message does not say how long the stages of its routing took.
    WithoutStages,
    /// [`VERSION`].
    Current,
}

impl Layout {
    pub(crate) const fn of_version(version: u64) -> Option<Self> {
        match version {
            1 => Some(Self::WithoutStages),
            VERSION => Some(Self::Current),
            _ => None,
        }
    }

    /// Bytes of a message record between its header and its recipients.
    pub(crate) const fn message_fixed(self) -> usize {
        match self {
            Self::WithoutStages => MESSAGE_FIXED - 8 * 2,
            Self::Current => MESSAGE_FIXED,
        }
    }
}

/// How many segments there are.
pub const SEGMENTS: usize = 64;
/// Bytes of the smallest ring.
pub const RING_MIN: usize = 64 * 1024;
/// Bytes of the largest ring.
pub const RING_MAX: usize = 1 << 30;

/// Offsets from the start.
pub mod at {
    /// The version.
    pub const VERSION: usize = 8;
    /// Bytes in the ring.
    pub const RING_LEN: usize = 16;
    /// From the monotonic clock to the time of day.
    pub const CLOCK: usize = 24;
    /// Bytes kept of each message.
    pub const KEPT: usize = 32;
    /// The position up to which the writer may be writing.
    pub const RESERVED: usize = 64;
    /// The position up to which everything is written.
    pub const COMMITTED: usize = 72;
    /// Whether the writer has stopped.
    pub const STOPPED: usize = 80;
    /// The first position of each segment.
    pub const SEGMENT_TABLE: usize = 512;
    /// The ring.
    pub const RING: usize = 4096;
}

/// Bytes before what a record says.
pub const RECORD_HEADER: usize = 24;

/// The share of a ring that one record may take: what is longer is cut.
pub const RECORD_PART: usize = 4;

/// What stands before what a record says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) len: u32,
    pub(crate) kind: u32,
    pub(crate) place: Place,
    pub(crate) at: Duration,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8; RECORD_HEADER]) -> Self {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_ne_bytes(*b));
        let ((len, kind), (records, messages)) = (halves(word(0)), halves(word(8)));
        let place = Place { records, messages };
        Self { len, kind, place, at: Duration::from_nanos(word(16)) }
    }
}
