//! Rings in a file, as the flight recorder of a bus writes them: one or several, one behind the other.

use std::io::{self, Read};

use crate::layout::{Header, Layout, MAGIC, RECORD_HEADER, RING_MAX, RING_MIN, SEGMENTS, at};
use crate::record::{Entry, Missed, RecordKind, RecordPlace, TraceRecord};

/// The records of a ring that was written to a file. No content of the file makes reading panic or go on for ever.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
    layout: Layout,
    len: u64,
    position: u64,
    end: u64,
    /// The place of the record that should come next, once one has come.
    expected: Option<RecordPlace>,
    /// True if the file is cut, and the records before the next one are behind its end.
    skips_cut: bool,
}

/// The outcome of [`Image::step`].
#[derive(Debug)]
pub enum Piece<'a> {
    /// A record with its entry.
    Record(TraceRecord<'a>),
    /// This number of records is missing here.
    Missed(Missed),
    /// Records are missing here because the file is cut; `None` if they cannot be counted.
    Cut(Option<Missed>),
    /// The bytes at this offset from the start of the ring's header are not a record. Reading continues at the next
    /// offset at which a record is known to begin.
    Damage(u64),
}

impl Image {
    /// Reads one ring, and nothing behind it. A ring that is cut behind its header is read as far as it goes.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the file is cut in the header of the ring, `InvalidData` if the bytes are not a ring of a known
    /// version, and the errors of `source`.
    pub fn read(mut source: impl Read) -> io::Result<Self> {
        let not_a_ring = || {
            io::Error::new(io::ErrorKind::InvalidData, "the file holds no trace of this version")
        };
        let mut bytes = Vec::new();
        source.by_ref().take(at::RING as u64).read_to_end(&mut bytes)?;
        if is_cut_header(&bytes) {
            let text = "the file is cut: it ends in the header of a trace";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        let (layout, len) = shape(&bytes).ok_or_else(not_a_ring)?;
        source.take(len as u64).read_to_end(&mut bytes)?;
        Self::new(bytes, layout, len).ok_or_else(not_a_ring)
    }

    fn new(bytes: Vec<u8>, layout: Layout, len: usize) -> Option<Self> {
        // No bus writes that much. Without such positions, nothing below overflows.
        let end = word(&bytes, at::COMMITTED);
        if i64::try_from(end).is_err() {
            return None;
        }
        let len = len as u64;
        let image = Self { bytes, layout, len, position: 0, end, expected: None, skips_cut: false };
        let position = match end.checked_sub(image.len) {
            None => 0,
            Some(oldest) => image.first_from(oldest),
        };
        Some(Self { position, ..image })
    }

    /// How many nanoseconds the time of day was ahead of the monotonic clock when the ring was made.
    pub fn clock(&self) -> i64 {
        word(&self.bytes, at::CLOCK) as i64
    }

    /// How many bytes of each message are written at most.
    pub fn kept(&self) -> u32 {
        word(&self.bytes, at::KEPT) as u32
    }

    /// The length in bytes that the ring, its header included, has in a file that is not cut.
    pub const fn file_len(&self) -> u64 {
        at::RING as u64 + self.len
    }

    /// True if the file ends before the end of the ring, even if nothing was written to the missing part.
    pub const fn is_short(&self) -> bool {
        (self.bytes.len() as u64) < self.file_len()
    }

    /// True if the file ends before the end of the last record.
    pub fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < at::RING as u64 + self.len.min(self.end)
    }

    /// Reads the next record. Returns `None` at the end.
    pub fn step(&mut self) -> Option<Piece<'_>> {
        loop {
            if self.position >= self.end {
                return std::mem::take(&mut self.skips_cut).then_some(Piece::Cut(None));
            }
            let start = (self.position % self.len) as usize;
            let Some(header) = self.header(start) else {
                self.position = self.first_from(self.position + 1);
                if self.is_cut_in_record(start) {
                    self.skips_cut = true;
                    continue;
                }
                return Some(Piece::Damage((at::RING + start) as u64));
            };
            if header.kind == RecordKind::Padding as u32 {
                self.position += u64::from(header.len);
                continue;
            }
            let missed = header.place.since(self.expected.unwrap_or(header.place));
            let is_behind_cut = std::mem::take(&mut self.skips_cut);
            if missed.is_some() || (is_behind_cut && self.expected.is_none()) {
                self.expected = Some(header.place);
                return match (is_behind_cut, missed) {
                    (false, Some(missed)) => Some(Piece::Missed(missed)),
                    (_, missed) => Some(Piece::Cut(missed)),
                };
            }
            self.position += u64::from(header.len);
            let kind = RecordKind::from_code(header.kind);
            self.expected = Some(header.place.after(kind.unwrap_or(RecordKind::Padding)));
            let body = at::RING + start + RECORD_HEADER..at::RING + start + header.len as usize;
            let decode = |kind| Entry::decode(self.layout, kind, &self.bytes[body]);
            let entry = kind.and_then(decode);
            return Some(match entry {
                Some(entry) => Piece::Record(TraceRecord {
                    number: header.place.records,
                    at: header.at,
                    entry,
                }),
                None => Piece::Damage((at::RING + start) as u64),
            });
        }
    }

    /// The header of the record at an offset in the ring, or `None` if it is not one.
    fn header(&self, start: usize) -> Option<Header> {
        let (header, room) = self.header_bytes(start);
        let len = header.len as usize;
        let shortest = if header.kind == RecordKind::Padding as u32 { 8 } else { RECORD_HEADER };
        (len >= shortest && len <= room && len.is_multiple_of(8)).then_some(header)
    }

    /// True if the file is cut within the record at an offset in the ring.
    fn is_cut_in_record(&self, start: usize) -> bool {
        let (header, room) = self.header_bytes(start);
        self.is_short() && (room < RECORD_HEADER || header.len as usize > room)
    }

    /// The header at an offset in the ring, with zeros for missing bytes, and how many bytes of the ring the file has
    /// from this offset on.
    fn header_bytes(&self, start: usize) -> (Header, usize) {
        let room = self.bytes.get(at::RING + start..).unwrap_or_default();
        let mut bytes = [0; RECORD_HEADER];
        let count = room.len().min(RECORD_HEADER);
        bytes[..count].copy_from_slice(&room[..count]);
        (Header::parse(&bytes), room.len())
    }

    /// The first position from `position` on at which a record is known to begin, or the end.
    fn first_from(&self, position: u64) -> u64 {
        (0..SEGMENTS)
            .map(|segment| word(&self.bytes, at::SEGMENT_TABLE + 8 * segment))
            .filter(|&first| first >= position && first.is_multiple_of(8))
            .min()
            .unwrap_or(self.end)
    }
}

/// True if these bytes are the rest of a file, and are the beginning of a header.
fn is_cut_header(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    !bytes.is_empty() && bytes.len() < at::RING && MAGIC.starts_with(start)
}

/// The layout of a ring and its length in bytes, from its header.
fn shape(header: &[u8]) -> Option<(Layout, usize)> {
    if header.len() != at::RING || !header.starts_with(&MAGIC) {
        return None;
    }
    let layout = Layout::of_version(word(header, at::VERSION))?;
    let len = usize::try_from(word(header, at::RING_LEN)).ok()?;
    (len.is_power_of_two() && (RING_MIN..=RING_MAX).contains(&len)).then_some((layout, len))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
