//! Splitting a byte stream into messages.
//!
//! A stream delivers bytes in pieces of any size. The framer provides the buffer for the next
//! piece, and splits the received bytes into complete messages:
//!
//! ```text
//!   space(scratch) -> buffer to read into     scratch: one buffer, shared by many connections
//!   received(n)       n bytes were read       ┌────────┬───────────────┬──────────┐
//!   next(scratch)  -> a message               │ kept   │ received now  │ free     │
//!   ...                                       └────────┴───────────────┴──────────┘
//!   park(scratch)     keep the rest           start ≤                  end ≤ scratch.len()
//! ```
//!
//! Small messages are used in place, inside the scratch buffer, and never copied. The remaining
//! bytes are moved out before another connection uses the buffer. A large message is read directly
//! into a buffer of exactly its size, which the receiver then owns.
//!
//! ```
//! use diligence_wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN};
//!
//! let mut framer = Framer::new(FramerLimits::default());
//! let mut scratch = vec![0; SCRATCH_LEN_MIN];
//! let bytes = *b"l\x02\x00\x01\0\0\0\0\x01\0\0\0\x08\0\0\0\x05\x01u\0\x07\0\0\0";
//! for half in bytes.chunks(11) {
//!     let count = framer.space(&mut scratch).put(half);
//!     framer.received(count);
//!     if let Some(Frame::Scratch(message)) = framer.next(&scratch)? {
//!         assert_eq!(message, bytes);
//!     }
//!     framer.park(&scratch);
//! }
//! # Ok::<(), diligence_wire::message::InvalidMessage>(())
//! ```

use alloc::vec::Vec;
use core::mem;

use crate::limits::{ARRAY_LEN_MAX, FORWARDED_LEN_MAX, MESSAGE_LEN_MAX, STAMP_LEN_MAX};
use crate::message::{FieldCode, FixedHeader, InvalidMessage, InvalidReason, Message, at};

/// Limits for the messages of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FramerLimits {
    /// Maximum bytes of a message. A bus, which forwards messages, allows at most
    /// [`FORWARDED_LEN_MAX`].
    pub message_len_max: usize,
    /// Maximum descriptors of a message, and of an incomplete one.
    pub message_fds_max: u32,
}

impl Default for FramerLimits {
    /// The limits of the protocol and of the kernel (253 descriptors in one call).
    fn default() -> Self {
        Self { message_len_max: MESSAGE_LEN_MAX, message_fds_max: 253 }
    }
}

/// A complete message, split off the stream.
#[derive(PartialEq, Eq, Debug)]
pub enum Frame<'s> {
    /// A message inside the scratch buffer.
    Scratch(&'s [u8]),
    /// A large message, which was read into its own buffer.
    Owned(Vec<u8>),
}

/// The place for the next bytes of a stream.
#[derive(PartialEq, Eq, Debug)]
pub enum Space<'s> {
    /// The start of this part of the scratch buffer. It is not empty if [`next`](Framer::next) has
    /// been called since the last bytes arrived.
    Scratch(&'s mut [u8]),
    /// The end of the buffer of a large message.
    Large {
        /// The buffer of the message, with the bytes so far.
        buffer: &'s mut Vec<u8>,
        /// The maximum number of bytes to append: the bytes that the message lacks.
        room: usize,
    },
}

impl Space<'_> {
    /// Copies bytes to this place, as many as there is room for, and returns their number.
    pub fn put(self, bytes: &[u8]) -> usize {
        match self {
            Self::Scratch(space) => {
                let count = bytes.len().min(space.len());
                space[..count].copy_from_slice(&bytes[..count]);
                count
            }
            Self::Large { buffer, room } => {
                let count = bytes.len().min(room);
                buffer.extend_from_slice(&bytes[..count]);
                count
            }
        }
    }
}

/// Splits the stream of one connection into messages.
///
/// With the feature `serde`, a [parked](Self::park) framer can be saved and restored.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Framer {
    limits: FramerLimits,
    kept: KeptBytes,
    /// The part of the scratch buffer with bytes of this stream: `start <= end <= scratch.len()`.
    #[cfg_attr(feature = "serde", serde(skip))]
    start: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    end: usize,
    /// Descriptors that arrived and belong to no message yet.
    fds: u32,
    /// The number of bytes that arrived, and how many of them were split into messages.
    received_len: u64,
    cut: u64,
    /// The offset in the stream at which the last message begins.
    message_start: u64,
    gap: Option<LostDescriptors>,
    /// Bytes that were moved in memory, because a message arrived in parts.
    moved: u64,
}

/// A gap in the descriptors of the stream: descriptors that the receiver lost.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct LostDescriptors {
    /// Descriptors that arrived before the lost ones and belong to no message yet.
    before: u32,
    /// The offset in the stream of the end of the bytes with which the lost descriptors arrived.
    end: u64,
}

/// Bytes that are kept while other connections use the scratch buffer.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum KeptBytes {
    /// A part of a message, or messages that were not requested yet.
    Bytes(#[cfg_attr(feature = "serde", serde(with = "serde_bytes"))] Vec<u8>),
    /// The first part of a large message, which has `len` bytes in total.
    Large {
        #[cfg_attr(feature = "serde", serde(with = "serde_bytes"))]
        buffer: Vec<u8>,
        len: usize,
    },
}

impl Framer {
    /// A framer at the start of a stream of messages.
    pub const fn new(limits: FramerLimits) -> Self {
        Self {
            limits,
            kept: KeptBytes::Bytes(Vec::new()),
            start: 0,
            end: 0,
            fds: 0,
            received_len: 0,
            cut: 0,
            message_start: 0,
            gap: None,
            moved: 0,
        }
    }

    /// Replaces the limits, for messages that are not split off yet.
    pub const fn set_limits(&mut self, limits: FramerLimits) {
        self.limits = limits;
    }

    /// The place to read the next bytes of the stream to.
    ///
    /// `scratch` must be at least [`SCRATCH_LEN_MIN`] long, and as long as in the last call. If
    /// nothing is read, [park](Self::park) before another stream uses it: it contains kept bytes.
    pub fn space<'s>(&'s mut self, scratch: &'s mut [u8]) -> Space<'s> {
        self.unpark(scratch);
        // Messages that were split off already make room for more.
        if self.start > 0 {
            scratch.copy_within(self.start..self.end, 0);
            self.moved += (self.end - self.start) as u64;
        }
        self.end -= mem::take(&mut self.start);
        match &mut self.kept {
            KeptBytes::Large { buffer, len } => {
                let room = *len - buffer.len();
                Space::Large { buffer, room }
            }
            KeptBytes::Bytes(_) => Space::Scratch(&mut scratch[self.end..]),
        }
    }

    /// Copies the kept bytes back into the scratch buffer, to continue with [`next`](Self::next)
    /// without reading.
    pub fn unpark(&mut self, scratch: &mut [u8]) {
        if let KeptBytes::Bytes(bytes) = &mut self.kept
            && !bytes.is_empty()
        {
            debug_assert_eq!(self.end, 0, "what the scratch buffer holds is parked first");
            scratch[..bytes.len()].copy_from_slice(bytes);
            self.end = bytes.len();
            self.moved += bytes.len() as u64;
            // In the middle of a stream, there will be bytes to keep again.
            bytes.clear();
        }
    }

    /// Records that `count` bytes were read into, or appended to, [`space`](Self::space).
    pub const fn received(&mut self, count: usize) {
        self.received_len += count as u64;
        match &mut self.kept {
            KeptBytes::Large { buffer, len } => {
                debug_assert!(buffer.len() <= *len, "more bytes were read than requested");
            }
            KeptBytes::Bytes(_) => self.end += count,
        }
    }

    /// Adds bytes that arrived before the stream is read through [`space`](Self::space): those
    /// after the end of the handshake.
    pub fn keep(&mut self, bytes: &[u8]) {
        if let KeptBytes::Bytes(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
            self.received_len += bytes.len() as u64;
        }
    }

    /// Records that `count` descriptors arrived with the last bytes.
    pub const fn received_fds(&mut self, count: u32) {
        self.fds += count;
    }

    /// Records that an unknown number of descriptors arrived with the last bytes and was lost.
    ///
    /// They belong to a message that begins before the end of these bytes; see
    /// [`take_incomplete`](Self::take_incomplete).
    pub const fn lost_fds(&mut self) {
        let before = match self.gap {
            Some(gap) => gap.before,
            None => self.fds,
        };
        self.gap = Some(LostDescriptors { before, end: self.received_len });
    }

    /// Returns `Some` if descriptors of a message were lost, so that it cannot be used. Then this
    /// number of descriptors that arrived belong to it too, and are no longer pending.
    ///
    /// Call this before [`claim_fds`](Self::claim_fds).
    pub fn take_incomplete(&mut self, message: &Message<'_>) -> Option<u32> {
        let gap = self.gap.as_mut()?;
        if self.message_start >= gap.end {
            self.gap = None;
            return None;
        }
        if message.unix_fds() <= gap.before {
            gap.before -= message.unix_fds();
            return None;
        }
        let before = mem::take(&mut gap.before);
        self.fds -= before;
        Some(before)
    }

    /// The number of descriptors that arrived and belong to no message yet.
    pub const fn pending_fds(&self) -> u32 {
        self.fds
    }

    /// The next complete message, if all of it has arrived.
    ///
    /// [Claim](Self::claim_fds) its descriptors before the next call.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid message, or exceed a limit. The stream cannot continue then.
    pub fn next<'s>(&mut self, scratch: &'s [u8]) -> Result<Option<Frame<'s>>, InvalidMessage> {
        if let KeptBytes::Large { buffer, len } = &mut self.kept {
            if buffer.len() < *len {
                return self.wait_for_more();
            }
            let message = mem::take(buffer);
            self.message_start = self.cut;
            self.cut += message.len() as u64;
            self.kept = KeptBytes::Bytes(Vec::new());
            return Ok(Some(Frame::Owned(message)));
        }
        let bytes = &scratch[self.start..self.end];
        match self.message_len(bytes)? {
            Some(len) if len <= bytes.len() => {
                self.start += len;
                self.message_start = self.cut;
                self.cut += len as u64;
                Ok(Some(Frame::Scratch(&bytes[..len])))
            }
            Some(len) => {
                self.go_large(bytes, len);
                self.wait_for_more()
            }
            None => self.wait_for_more(),
        }
    }

    /// Returns true if [`next`](Self::next) would return a message or an error without reading.
    /// Parked bytes count too.
    pub fn has_message(&self, scratch: &[u8]) -> bool {
        let bytes = match &self.kept {
            KeptBytes::Large { buffer, len } => return buffer.len() == *len,
            KeptBytes::Bytes(kept) if !kept.is_empty() => kept,
            KeptBytes::Bytes(_) => &scratch[self.start..self.end],
        };
        match self.message_len(bytes) {
            Ok(Some(len)) => len <= bytes.len(),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Claims the descriptors of a message, and returns their number.
    ///
    /// # Errors
    ///
    /// If fewer descriptors arrived than the header of the message announces, or more than a
    /// message may have.
    pub fn claim_fds(&mut self, message: &Message<'_>) -> Result<u32, InvalidMessage> {
        let announced = message.unix_fds();
        let (received, limit) = (self.fds, self.limits.message_fds_max);
        let reason = if announced > limit {
            InvalidReason::DescriptorsOverLimit { received: announced, limit }
        } else if announced > received {
            InvalidReason::DescriptorsMissing { announced, received }
        } else {
            self.fds -= announced;
            return Ok(announced);
        };
        Err(reason.at(message.field_start(FieldCode::UnixFds).unwrap_or_default()))
    }

    /// Moves the remaining bytes of this stream out of the scratch buffer.
    pub fn park(&mut self, scratch: &[u8]) {
        let rest = &scratch[mem::take(&mut self.start)..mem::take(&mut self.end)];
        if let KeptBytes::Bytes(bytes) = &mut self.kept {
            if rest.is_empty() && bytes.is_empty() {
                // An idle stream keeps no memory.
                *bytes = Vec::new();
            }
            bytes.extend_from_slice(rest);
            self.moved += rest.len() as u64;
        }
    }

    /// Returns true unless the numbers of this framer contradict each other. Only a framer that was
    /// restored from damaged data can be inconsistent.
    pub const fn is_consistent(&self) -> bool {
        let fits = match &self.kept {
            KeptBytes::Bytes(bytes) => bytes.len() <= SCRATCH_LEN_MIN,
            KeptBytes::Large { buffer, len } => buffer.len() <= *len && *len <= MESSAGE_LEN_MAX,
        };
        let has_gap_in_fds = match self.gap {
            Some(gap) => gap.before <= self.fds,
            None => true,
        };
        fits && has_gap_in_fds && self.cut <= self.received_len && self.message_start <= self.cut
    }

    /// Bytes that were moved in memory since the last call.
    pub const fn take_moved(&mut self) -> u64 {
        mem::replace(&mut self.moved, 0)
    }

    /// Received bytes that are not split into messages yet, without the bytes in the scratch
    /// buffer.
    pub const fn kept_len(&self) -> usize {
        match &self.kept {
            KeptBytes::Bytes(bytes) | KeptBytes::Large { buffer: bytes, .. } => bytes.len(),
        }
    }

    #[inline]
    fn message_len(&self, bytes: &[u8]) -> Result<Option<usize>, InvalidMessage> {
        let Some(start) = bytes.first_chunk() else { return Ok(None) };
        let header = FixedHeader::parse(start)?;
        if header.message_len() > self.limits.message_len_max {
            return Err(
                over_limit(header.message_len(), self.limits.message_len_max).at(at::BODY_LEN)
            );
        }
        if header.fields_len as usize > FIELDS_LEN_MAX {
            return Err(no_room(header.fields_len as usize, FIELDS_LEN_MAX).at(at::FIELDS_LEN));
        }
        Ok(Some(header.message_len()))
    }

    /// All complete messages were split off, so the remaining descriptors belong to the next one. A
    /// peer may not keep more of them pending than one message can have.
    fn wait_for_more<'s>(&self) -> Result<Option<Frame<'s>>, InvalidMessage> {
        let (received, limit) = (self.fds, self.limits.message_fds_max);
        if received > limit {
            return Err(InvalidReason::DescriptorsOverLimit { received, limit }.at(0));
        }
        Ok(None)
    }

    /// Moves the first part of a message into its own buffer, if the message is large.
    fn go_large(&mut self, part: &[u8], len: usize) {
        if len < LARGE_MESSAGE {
            return;
        }
        let mut buffer = Vec::with_capacity(len);
        buffer.extend_from_slice(part);
        self.moved += part.len() as u64;
        self.kept = KeptBytes::Large { buffer, len };
        self.start = self.end;
    }
}

/// The size in bytes from which an incomplete message gets its own buffer.
///
/// Below this, copying the first part costs less than a buffer would.
pub const LARGE_MESSAGE: usize = 128 * 1024;

/// The error for a message over the configured limit. A length never exceeds `u32`, because the
/// protocol forbids such messages.
#[cold]
fn over_limit(len: usize, limit: usize) -> InvalidReason {
    if limit == FORWARDED_LEN_MAX {
        return no_room(len, limit);
    }
    let [len, limit] = [len, limit].map(length);
    InvalidReason::OverConfiguredLimit { len, limit }
}

#[cold]
fn no_room(len: usize, limit: usize) -> InvalidReason {
    let [len, limit] = [len, limit].map(length);
    InvalidReason::NoRoomForSender { len, limit }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The maximum length of an array of header fields to which a sender can be added.
const FIELDS_LEN_MAX: usize = ARRAY_LEN_MAX - STAMP_LEN_MAX;

/// The minimum length of the scratch buffer: a kept part of a message that is not large fits in
/// half of it, so that every read has room.
pub const SCRATCH_LEN_MIN: usize = 2 * LARGE_MESSAGE;
