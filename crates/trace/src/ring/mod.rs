//! The ring in shared memory: [`RingWriter`] and [`Follower`].
//!
//! Writer and readers share no lock. The writer announces in `RESERVED` up to which position it is about to
//! write, then writes the record, then moves `COMMITTED` behind it. A reader copies a record, and then looks at
//! `RESERVED` again: if the writer may have reached the record meanwhile, the reader discards the copy. This is a
//! sequence lock, of which all accesses are atomic ([`sys::shared`]).

mod encode;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use sys::shared::{ReadOnly, Unprovided, Writable};

use crate::layout::{
    Header, Layout, MAGIC, RECORD_HEADER, RECORD_PART, RING_MAX, RING_MIN, SEGMENTS, VERSION, at,
};
use crate::record::{
    DELIVERED, Entry, MessageRecord, Missed, Recipients, RecordKind, RecordPlace, TraceRecord,
};
use encode::{Encoded, pair};

/// Writes records into a ring. Writing never waits and never fails.
#[derive(Debug)]
pub struct RingWriter {
    memory: Writable,
    /// The length of the ring in bytes, a power of two.
    len: usize,
    /// How many bytes of each message are written at most.
    kept: usize,
    position: u64,
    next: RecordPlace,
    /// The position at which the segment ends in which the last record began.
    segment_end: u64,
}

impl RingWriter {
    /// Creates a ring of `len` bytes, limited to [`RING_MIN`] to [`RING_MAX`] and rounded up to a power
    /// of two, and the descriptor with which other processes can read it. `clock` is how many
    /// nanoseconds the time of day is ahead of the monotonic clock. Of each message at most the first
    /// `kept` bytes are written.
    ///
    /// # Errors
    ///
    /// Fails if descriptors or memory run out.
    pub fn new(len: usize, clock: i64, kept: u32) -> io::Result<(Self, OwnedFd)> {
        let len = len.clamp(RING_MIN, RING_MAX).next_power_of_two();
        let (mut memory, descriptor) = Writable::new("diligence-trace", at::RING + len)?;
        memory.write(0, [&MAGIC]);
        for (place, word) in [
            (at::VERSION, VERSION),
            (at::RING_LEN, len as u64),
            (at::CLOCK, clock as u64),
            (at::KEPT, kept.into()),
        ] {
            memory.store(place, word);
        }
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        Ok((
            Self { memory, len, kept, position: 0, next: RecordPlace::default(), segment_end: 0 },
            descriptor,
        ))
    }

    /// Restores a ring whose memory [`Self::descriptor`] has, in another program that has replaced
    /// the one that created it. Returns it with a descriptor for readers.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the state does not fit the memory. Other errors if it cannot be mapped.
    pub fn restore(descriptor: OwnedFd, state: RingState) -> io::Result<(Self, OwnedFd)> {
        let (memory, reader) = Writable::adopt(descriptor)?;
        let RingState { kept, position, records, messages, segment_end } = state;
        let len = memory.len().saturating_sub(at::RING);
        if !(RING_MIN..=RING_MAX).contains(&len) || !len.is_power_of_two() || position % 8 != 0 {
            let what = "the state is of another ring";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let next = RecordPlace { records, messages };
        Ok((Self { memory, len, kept, position, next, segment_end }, reader))
    }

    /// The state of the writer, for [`Self::restore`].
    pub const fn state(&self) -> RingState {
        RingState {
            kept: self.kept as u64,
            position: self.position,
            records: self.next.records,
            messages: self.next.messages,
            segment_end: self.segment_end,
        }
    }

    /// The descriptor of the memory, for [`Self::restore`].
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.memory.descriptor()
    }

    /// The length of the ring in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a length of memory, which is never 0")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// How many bytes were written since the ring was made, overwritten ones included.
    pub const fn written(&self) -> u64 {
        self.position
    }

    /// The memory that the kernel has not provided yet, so that another thread can have it provided.
    pub fn unprovided(&self) -> Unprovided {
        self.memory.unprovided()
    }

    /// Appends a record. A message that would take more than a quarter of the ring is cut.
    #[inline]
    pub fn write(&mut self, time: Duration, entry: Entry<'_>) {
        match entry.encode() {
            Ok(record) => self.append(time, &record),
            Err(message) => self.write_message(time, &message),
        }
    }

    /// Appends a message. One that would take more than a quarter of the ring is cut.
    #[inline]
    pub fn write_message(&mut self, time: Duration, message: &MessageRecord<'_>) {
        let len_max = self.len / RECORD_PART - RECORD_HEADER;
        self.append(time, &message.encode(len_max, self.kept));
    }

    /// Marks the ring as complete. Readers stop behind the last record.
    pub fn stop(&mut self) {
        self.memory.store_release(at::STOPPED, 1);
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
            self.write_tail(start + RECORD_HEADER + 8 * WORDS, record);
        }
        self.position += len as u64;
        self.next = self.next.after(record.kind);
        // Release: a reader that sees this position sees all bytes before it.
        self.memory.store_release(at::COMMITTED, self.position);
    }

    /// Announces that the next `len` bytes will be written. Returns their offset in the memory.
    #[inline]
    fn reserve(&mut self, len: usize) -> usize {
        let start = self.place();
        let start = if self.len - start < len { self.pad(start) } else { start };
        if self.position >= self.segment_end {
            self.begin_segment(start);
        }
        self.memory.store(at::RESERVED, self.position + len as u64);
        // Release: a reader that sees any word written below sees that it was reserved. It pairs with the
        // fence in `Follower::copy`.
        fence(Ordering::Release);
        at::RING + start
    }

    const fn place(&self) -> usize {
        // The length is a power of two.
        (self.position & (self.len as u64 - 1)) as usize
    }

    /// Fills the rest of the ring, so that no record is split at its end.
    #[cold]
    fn pad(&mut self, start: usize) -> usize {
        let len = self.len - start;
        self.memory.store(at::RESERVED, self.position + len as u64);
        fence(Ordering::Release);
        self.memory.write_words(at::RING + start, [pair(len as u32, RecordKind::Padding as u32)]);
        self.position += len as u64;
        0
    }

    #[cold]
    fn begin_segment(&mut self, start: usize) {
        let segment_len = self.len / SEGMENTS;
        let segment = start / segment_len;
        self.segment_end = self.position - (start % segment_len) as u64 + segment_len as u64;
        self.memory.store_release(at::SEGMENT_TABLE + 8 * segment, self.position);
    }

    /// Writes the recipients, texts and bytes that follow the words of a record.
    #[inline]
    fn write_tail<const WORDS: usize>(&mut self, mut place: usize, record: &Encoded<'_, WORDS>) {
        match record.recipients {
            Recipients::List(copies) => {
                for copy in copies {
                    self.memory.write_words(place, [copy.to, copy.end]);
                    place += DELIVERED;
                }
            }
            Recipients::Bytes(bytes) => {
                self.memory.write(place, [bytes]);
                place += bytes.len();
            }
        }
        self.memory.write(place, record.rest);
    }
}

/// The state of a [`RingWriter`] besides its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingState {
    /// How many bytes of each message are written at most.
    pub kept: u64,
    /// How many bytes were written since the ring was made.
    pub position: u64,
    /// The number of records that were written. It wraps around.
    pub records: u32,
    /// The number of messages that were written. It wraps around.
    pub messages: u32,
    /// The position at which the segment ends in which the last record began.
    pub segment_end: u64,
}

/// Reads records while they are written.
#[derive(Debug)]
pub struct Follower {
    memory: ReadOnly,
    layout: Layout,
    /// The length of the ring in bytes, a power of two.
    len: usize,
    position: u64,
    /// The place of the record that should come next; `None` if the follower began in the middle.
    expected: Option<RecordPlace>,
    /// The body of the last record, followed by the remains of longer records.
    record: Vec<u8>,
}

/// The outcome of [`Follower::step`].
#[derive(Debug)]
pub enum Step<'a> {
    /// The next record of the ring.
    Record(TraceRecord<'a>),
    /// This number of records was overwritten before they were read, or cannot be decoded.
    Missed(Missed),
    /// Nothing more has been written yet.
    Nothing,
    /// The writer has stopped, and all records were read.
    Stopped,
}

impl Follower {
    /// Maps a ring, to be read from the oldest record that is left.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the memory does not contain a ring of a known version. Other errors if it cannot be
    /// mapped.
    pub fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let memory = ReadOnly::map(descriptor)?;
        let (layout, len) = shape(&memory).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the memory holds no trace of this version")
        })?;
        let record = Vec::new();
        let mut follower = Self {
            memory,
            layout,
            len,
            position: 0,
            expected: Some(RecordPlace::default()),
            record,
        };
        if follower.reserved() > follower.len as u64 {
            follower.position = follower.oldest();
            follower.expected = None;
        }
        Ok(follower)
    }

    /// How many nanoseconds the time of day was ahead of the monotonic clock when the ring was made.
    pub fn clock(&self) -> i64 {
        self.memory.load(at::CLOCK) as i64
    }

    /// How many bytes of each message are written at most.
    pub fn kept(&self) -> u32 {
        self.memory.load(at::KEPT) as u32
    }

    /// Reads the next record.
    pub fn step(&mut self) -> Step<'_> {
        match self.find() {
            Found::Nothing => Step::Nothing,
            Found::Stopped => Step::Stopped,
            Found::Missed(missed) => Step::Missed(missed),
            Found::Record { header, kind } => {
                match Entry::decode(self.layout, kind, self.body(header)) {
                    Some(entry) => Step::Record(TraceRecord {
                        number: header.place.records,
                        at: header.at,
                        entry,
                    }),
                    None => {
                        let messages = (kind == RecordKind::Message).into();
                        Step::Missed(Missed { records: 1, messages })
                    }
                }
            }
        }
    }

    fn body(&self, header: Header) -> &[u8] {
        &self.record[..(header.len as usize).saturating_sub(RECORD_HEADER)]
    }

    /// Copies the next record that is not padding.
    fn find(&mut self) -> Found {
        loop {
            let stopped = self.memory.load_acquire(at::STOPPED) != 0;
            // Acquire: all bytes before this position are seen as they were written.
            let committed = self.memory.load_acquire(at::COMMITTED);
            if i64::try_from(committed).is_err() {
                // No bus writes that much, so this is not a ring. Without such positions, nothing below overflows.
                return Found::Stopped;
            }
            if self.position >= committed {
                return if stopped { Found::Stopped } else { Found::Nothing };
            }
            let Some(header) = self.copy() else {
                let oldest = self.oldest();
                // A writer that has overtaken this reader is far ahead, unless the memory is not a ring any more.
                if oldest <= self.position {
                    return Found::Stopped;
                }
                self.position = oldest;
                continue;
            };
            let kind = RecordKind::from_code(header.kind);
            if kind != Some(RecordKind::Padding)
                && let Some(missed) = header.place.since(self.expected.unwrap_or(header.place))
            {
                // The next step finds the record itself again.
                self.expected = Some(header.place);
                return Found::Missed(missed);
            }
            self.position += u64::from(header.len);
            if let Some(kind) = kind.filter(|&kind| kind != RecordKind::Padding) {
                self.expected = Some(header.place.after(kind));
                return Found::Record { header, kind };
            }
        }
    }

    /// Copies the next record. Returns `None` if the writer may have overwritten it meanwhile.
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
        if header.kind != RecordKind::Padding as u32 && is_possible && len >= RECORD_HEADER {
            let body = len - RECORD_HEADER;
            if self.record.len() < body {
                self.record.resize(body, 0);
            }
            self.memory.read(at::RING + start + RECORD_HEADER, &mut self.record[..body]);
        }
        // Acquire: if a word was copied that a later record had overwritten, the load of `RESERVED` below sees
        // the reservation of that record. It pairs with the fence in `Writer::reserve`.
        fence(Ordering::Acquire);
        (self.reserved() <= self.position + self.len as u64 && is_possible).then_some(header)
    }

    fn reserved(&self) -> u64 {
        self.memory.load(at::RESERVED)
    }

    /// The first record of a segment that is at least two segments ahead of the writer, so that the writer
    /// does not overtake this reader again at once.
    fn oldest(&self) -> u64 {
        let reserved = self.reserved();
        let margin = 2 * (self.len / SEGMENTS) as u64;
        let safe = reserved.saturating_add(margin).saturating_sub(self.len as u64);
        let first = (0..SEGMENTS)
            .map(|segment| self.memory.load_acquire(at::SEGMENT_TABLE + 8 * segment))
            .filter(|&first| first >= safe)
            .min()
            .unwrap_or_else(|| self.memory.load_acquire(at::COMMITTED));
        // Every record begins at a multiple of eight. Memory that says otherwise is not a ring, but must not make
        // the reader panic.
        first & !7
    }
}

/// A [`Step`] whose record is in the follower's buffer.
#[derive(Clone, Copy, Debug)]
enum Found {
    Record { header: Header, kind: RecordKind },
    Missed(Missed),
    Nothing,
    Stopped,
}

/// The layout and the length in bytes of the ring that the memory contains. `None` if it does not contain
/// a ring, or if its header gives a length that differs from the length of the memory.
fn shape(memory: &ReadOnly) -> Option<(Layout, usize)> {
    if memory.len() < at::RING + RING_MIN {
        return None;
    }
    let mut magic = [0; 8];
    memory.read(0, &mut magic);
    let len = usize::try_from(memory.load(at::RING_LEN)).ok()?;
    let layout = Layout::of_version(memory.load(at::VERSION))?;
    let fits = magic == MAGIC && memory.len() == at::RING + len && len.is_power_of_two();
    fits.then_some((layout, len))
}
