//! The layout of the memory of a ring.
//!
//! All numbers are in the byte order of the machine, as a ring is not read on another machine. A position counts all
//! bytes written since the ring was made; modulo the length of the ring, it is an offset in the ring. The ring is
//! divided into [`SEGMENTS`] segments. For each segment, the header has the position of the first record that begins
//! in the segment, so that a reader that was overtaken can find the start of a record.
//!
//! The memory is written and read in words of eight bytes at multiples of eight, each atomically.
//!
//! | offset | bytes | content |
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
//! A record begins at a multiple of 8 and is never split at the end of the ring: a record of padding fills the
//! rest of the ring. The last word of a record may end with bytes that are not used, which are zero.
//!
//! | word | content |
//! | --- | --- |
//! | 0 | lower half: length of the record in bytes, header included; upper half: its [`RecordKind`](crate::record::RecordKind) |
//! | 1 | lower half: number of records before it; upper half: number of messages before it; both wrap around |
//! | 2 | time, in nanoseconds of the monotonic clock |
//! | 3 | body, which depends on the kind |

use std::time::Duration;

use crate::record::{MESSAGE_FIXED, RecordPlace, halves};

/// The first bytes of the memory.
pub const MAGIC: [u8; 8] = *b"DLGTRACE";
/// The version of this layout.
pub const VERSION: u64 = 2;

/// A layout that this crate can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// Version 1: messages do not have the times of the stages of their routing.
    WithoutStages,
    /// The current version, [`VERSION`].
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

    /// The length in bytes of the words of a message record between its header and its recipients.
    pub(crate) const fn message_fixed(self) -> usize {
        match self {
            Self::WithoutStages => MESSAGE_FIXED - 8 * 2,
            Self::Current => MESSAGE_FIXED,
        }
    }
}

/// The number of segments of a ring.
pub const SEGMENTS: usize = 64;
/// The length of the smallest ring in bytes.
pub const RING_MIN: usize = 64 * 1024;
/// The length of the largest ring in bytes.
pub const RING_MAX: usize = 1 << 30;

/// Offsets in the memory, in bytes.
pub mod at {
    /// The version of the layout.
    pub const VERSION: usize = 8;
    /// The length of the ring in bytes.
    pub const RING_LEN: usize = 16;
    /// How many nanoseconds the time of day is ahead of the monotonic clock, signed.
    pub const CLOCK: usize = 24;
    /// How many bytes of each message are written at most.
    pub const KEPT: usize = 32;
    /// The position up to which the writer may be writing at this moment.
    pub const RESERVED: usize = 64;
    /// The position up to which all records are complete.
    pub const COMMITTED: usize = 72;
    /// 1 if the writer has stopped, otherwise 0.
    pub const STOPPED: usize = 80;
    /// For each segment, the position of the first record that begins in it.
    pub const SEGMENT_TABLE: usize = 512;
    /// The first byte of the ring.
    pub const RING: usize = 4096;
}

/// The length of the header of a record in bytes.
pub const RECORD_HEADER: usize = 24;

/// A record takes at most the length of the ring divided by this. A longer message is cut.
pub const RECORD_PART: usize = 4;

/// The header of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) len: u32,
    pub(crate) kind: u32,
    pub(crate) place: RecordPlace,
    pub(crate) at: Duration,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8; RECORD_HEADER]) -> Self {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_ne_bytes(*b));
        let ((len, kind), (records, messages)) = (halves(word(0)), halves(word(8)));
        let place = RecordPlace { records, messages };
        Self { len, kind, place, at: Duration::from_nanos(word(16)) }
    }
}
