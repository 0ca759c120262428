//! The memory, its writer and its reader.

mod encode;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use sys::shared::{ReadOnly, Unprovided, Writable};

use crate::layout::{
    Header, Layout, MAGIC, RECORD_HEADER, RECORD_PART, RING_MAX, RING_MIN, SEGMENTS, VERSION, at,
};
use crate::record::{DELIVERED, Entry, Kind, Message, Missed, Place, Recipients, Record};
use encode::{Encoded, pair};

/// Writes records. Nothing here waits or fails.
#[derive(Debug)]
pub struct Writer {
    memory: Writable,
    len: usize,
    /// Bytes that are kept of each message.
    kept: usize,
    position: u64,
    next: Place,
    /// Where the segment ends in which the last record began.
    segment_end: u64,
}

impl Writer {
    /// A ring of at least `len` bytes, and the descriptor by which others can read it. `clock` is
    /// how many nanoseconds the time of day is ahead of the monotonic clock; of each message the
    /// first `kept` bytes are written.
    ///
    /// # Errors
    ///
    /// Only when descriptors or memory run out.
    pub fn new(len: usize, clock: i64, kept: u32) -> io::Result<(Self, OwnedFd)> {
        let len = len.clamp(RING_MIN, RING_MAX).next_power_of_two();
        let (mut memory, descriptor) = Writable::new("diligence-trace", at::RING + len)?;
        memory.write(0, &MAGIC);
        for (place, word) in [
            (at::VERSION, VERSION),
            (at::RING_LEN, len as u64),
            (at::CLOCK, clock as u64),
            (at::KEPT, kept.into()),
        ] {
            memory.store(place, word, Ordering::Relaxed);
        }
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        Ok((
            Self { memory, len, kept, position: 0, next: Place::default(), segment_end: 0 },
            descriptor,
        ))
    }

    /// Bytes in the ring.
    #[expect(clippy::len_without_is_empty, reason = "it is about memory, not about what is there")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Bytes that were ever written.
    pub const fn written(&self) -> u64 {
        self.position
    }

    /// The memory that is not there yet, for another thread to see to.
    pub fn unprovided(&self) -> Unprovided {
        self.memory.unprovided()
    }

    /// Appends a record. What is longer than a quarter of the ring loses its end.
    #[inline]
    pub fn write(&mut self, time: Duration, entry: Entry<'_>) {
        match entry.encode() {
            Ok(record) => self.append(time, &record),
            Err(message) => self.write_message(time, &message),
        }
    }

    /// Appends a message.
    #[inline]
    pub fn write_message(&mut self, time: Duration, message: &Message<'_>) {
        let len_max = self.len / RECORD_PART - RECORD_HEADER;
        self.append(time, &message.encode(len_max, self.kept));
    }

    /// Tells readers that nothing more comes.
    pub fn stop(&mut self) {
        self.memory.store(at::STOPPED, 1, Ordering::Release);
    }

    #[inline]
    fn append<const WORDS: usize>(&mut self, time: Duration, record: &Encoded<'_, WORDS>) {
        let len = (RECORD_HEADER + record.len()).next_multiple_of(8);
        let start = self.reserve(len);
        let kind = pair(len as u32, record.kind as u32);
        let number = pair(self.next.records, self.next.messages);
        self.memory.write_words(start, [kind, number, time.as_nanos() as u64]);
        self.memory.write_words(start + RECORD_HEADER, record.words);
        if record.tail_len() > 0 {
            self.write_tail(start, len, record);
        }
        self.position += len as u64;
        self.next = self.next.after(record.kind);
        // Release: who sees this position sees all bytes before it.
        self.memory.store(at::COMMITTED, self.position, Ordering::Release);
    }

    /// Makes known that `len` bytes will be overwritten, and returns their place.
    #[inline]
    fn reserve(&mut self, len: usize) -> usize {
        let start = self.place();
        let start = if self.len - start < len { self.pad(start) } else { start };
        if self.position >= self.segment_end {
            self.begin_segment(start);
        }
        self.memory.store(at::RESERVED, self.position + len as u64, Ordering::Relaxed);
        // Release: who sees any byte written below sees that it was reserved. It pairs with the
        // fence in `Follower::step`.
        fence(Ordering::Release);
        at::RING + start
    }

    const fn place(&self) -> usize {
        // It is a power of two.
        (self.position & (self.len as u64 - 1)) as usize
    }

    /// Fills the rest of the ring, so that a record need not be split.
    #[cold]
    fn pad(&mut self, start: usize) -> usize {
        let len = self.len - start;
        self.memory.store(at::RESERVED, self.position + len as u64, Ordering::Relaxed);
        fence(Ordering::Release);
        self.memory.write_words(at::RING + start, [pair(len as u32, Kind::Padding as u32)]);
        self.position += len as u64;
        0
    }

    #[cold]
    fn begin_segment(&mut self, start: usize) {
        let segment_len = self.len / SEGMENTS;
        let segment = start / segment_len;
        self.segment_end = self.position - (start % segment_len) as u64 + segment_len as u64;
        self.memory.store(at::SEGMENT_TABLE + 8 * segment, self.position, Ordering::Release);
    }

    /// Writes what is behind the words of a record.
    #[inline]
    fn write_tail<const WORDS: usize>(
        &mut self,
        start: usize,
        len: usize,
        record: &Encoded<'_, WORDS>,
    ) {
        // What the parts do not fill of the last word.
        self.memory.write_words(start + len - 8, [0]);
        let mut place = start + RECORD_HEADER + 8 * WORDS;
        match record.recipients {
            Recipients::List(copies) => {
                for copy in copies {
                    self.memory.write_words(place, [copy.to, copy.end]);
                    place += DELIVERED;
                }
            }
            Recipients::Bytes(bytes) => place = self.write_bytes(place, bytes),
        }
        for bytes in record.rest {
            place = self.write_bytes(place, bytes);
        }
        debug_assert!(place <= start + len, "it fits");
    }

    #[inline]
    fn write_bytes(&mut self, place: usize, bytes: &[u8]) -> usize {
        self.memory.write(place, bytes);
        place + bytes.len()
    }
}

/// Reads records while they are written.
#[derive(Debug)]
pub struct Follower {
    memory: ReadOnly,
    layout: Layout,
    len: usize,
    position: u64,
    /// The place of the record that should come next; `None` if that was not there at the start.
    expected: Option<Place>,
    /// What the last record says, and what longer ones have left behind that.
    record: Vec<u8>,
}

/// What a [`Follower`] has found.
#[derive(Debug)]
pub enum Step<'a> {
    /// The next record.
    Record(Record<'a>),
    /// Some were overwritten before they were read.
    Missed(Missed),
    /// Nothing more yet.
    Nothing,
    /// Nothing more will come.
    Stopped,
}

impl Follower {
    /// Follows a ring from the oldest record that is there.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the memory is no ring, or one of another version.
    pub fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let memory = ReadOnly::map(descriptor)?;
        let (layout, len) = shape(&memory).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the memory holds no trace of this version")
        })?;
        let record = Vec::new();
        let mut follower =
            Self { memory, layout, len, position: 0, expected: Some(Place::default()), record };
        if follower.reserved() > follower.len as u64 {
            follower.position = follower.oldest();
            follower.expected = None;
        }
        Ok(follower)
    }

    /// How many nanoseconds the time of day was ahead of the monotonic clock.
    pub fn clock(&self) -> i64 {
        self.memory.load(at::CLOCK, Ordering::Relaxed) as i64
    }

    /// Bytes that are kept of each message.
    pub fn kept(&self) -> u32 {
        self.memory.load(at::KEPT, Ordering::Relaxed) as u32
    }

    /// What comes next.
    pub fn step(&mut self) -> Step<'_> {
        match self.find() {
            Found::Nothing => Step::Nothing,
            Found::Stopped => Step::Stopped,
            Found::Missed(missed) => Step::Missed(missed),
            Found::Record { header, kind } => {
                match Entry::decode(self.layout, kind, self.body(header)) {
                    Some(entry) => {
                        Step::Record(Record { number: header.place.records, at: header.at, entry })
                    }
                    None => {
                        let messages = (kind == Kind::Message).into();
                        Step::Missed(Missed { records: 1, messages })
                    }
                }
            }
        }
    }

    fn body(&self, header: Header) -> &[u8] {
        &self.record[..(header.len as usize).saturating_sub(RECORD_HEADER)]
    }

    /// Copies the next record that says something.
    fn find(&mut self) -> Found {
        loop {
            let stopped = self.memory.load(at::STOPPED, Ordering::Acquire) != 0;
            // Acquire: all bytes before this position are seen as they were written.
            let committed = self.memory.load(at::COMMITTED, Ordering::Acquire);
            if self.position >= committed {
                return if stopped { Found::Stopped } else { Found::Nothing };
            }
            let Some(header) = self.copy() else {
                let oldest = self.oldest();
                // A writer that has overtaken us is far ahead, unless the memory is no ring any more.
                if oldest <= self.position {
                    return Found::Stopped;
                }
                self.position = oldest;
                continue;
            };
            let kind = Kind::from_code(header.kind);
            if kind != Some(Kind::Padding)
                && let Some(missed) = header.place.since(self.expected.unwrap_or(header.place))
            {
                // The record itself is found again by the next step.
                self.expected = Some(header.place);
                return Found::Missed(missed);
            }
            self.position += u64::from(header.len);
            if let Some(kind) = kind.filter(|&kind| kind != Kind::Padding) {
                self.expected = Some(header.place.after(kind));
                return Found::Record { header, kind };
            }
        }
    }

    /// Copies the next record; `None` if the writer was there meanwhile.
    fn copy(&mut self) -> Option<Header> {
        // The length is a power of two.
        let start = (self.position & (self.len as u64 - 1)) as usize;
        let mut bytes = [0; RECORD_HEADER];
        let room = self.len - start;
        let wanted = RECORD_HEADER.min(room);
        self.memory.read(at::RING + start, &mut bytes[..wanted]);
        let header = Header::parse(&bytes);
        let len = header.len as usize;
        let is_possible = len >= 8 && len <= room && len.is_multiple_of(8);
        if header.kind != Kind::Padding as u32 && is_possible && len >= RECORD_HEADER {
            let body = len - RECORD_HEADER;
            if self.record.len() < body {
                self.record.resize(body, 0);
            }
            self.memory.read(at::RING + start + RECORD_HEADER, &mut self.record[..body]);
        }
        // Acquire: whatever was overwritten while it was copied was reserved before.
        fence(Ordering::Acquire);
        (self.reserved() <= self.position + self.len as u64 && is_possible).then_some(header)
    }

    fn reserved(&self) -> u64 {
        self.memory.load(at::RESERVED, Ordering::Relaxed)
    }

    /// The first record of the segment behind the one that is written now, with another segment
    /// between, so that the writer does not come again at once.
    fn oldest(&self) -> u64 {
        let reserved = self.reserved();
        let margin = 2 * (self.len / SEGMENTS) as u64;
        let safe = (reserved + margin).saturating_sub(self.len as u64);
        (0..SEGMENTS)
            .map(|segment| self.memory.load(at::SEGMENT_TABLE + 8 * segment, Ordering::Acquire))
            .filter(|&first| first >= safe)
            .min()
            .unwrap_or_else(|| self.memory.load(at::COMMITTED, Ordering::Acquire))
    }
}

/// A [`Step`] whose record is in the follower's buffer.
#[derive(Clone, Copy, Debug)]
enum Found {
    Record { header: Header, kind: Kind },
    Missed(Missed),
    Nothing,
    Stopped,
}

/// The layout and the length that a ring's header gives, if it is one, and has that length.
fn shape(memory: &ReadOnly) -> Option<(Layout, usize)> {
    if memory.len() < at::RING + RING_MIN {
        return None;
    }
    let mut magic = [0; 8];
    memory.read(0, &mut magic);
    let len = usize::try_from(memory.load(at::RING_LEN, Ordering::Relaxed)).ok()?;
    let layout = Layout::of_version(memory.load(at::VERSION, Ordering::Relaxed))?;
    let fits = magic == MAGIC && memory.len() == at::RING + len && len.is_power_of_two();
    fits.then_some((layout, len))
}
