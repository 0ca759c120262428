//! A ring that nobody writes any more, as the bytes of a file.

use std::io::{self, Read};

use crate::layout::{Header, MAGIC, RECORD_HEADER, RING_MAX, RING_MIN, SEGMENTS, VERSION, at};
use crate::record::{Entry, Kind, Missed, Place, Record};

/// The records of a ring that was written to a file. Nothing in the file is trusted.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
    len: u64,
    position: u64,
    end: u64,
    /// The place of the record that should come next, once one has come.
    expected: Option<Place>,
}

/// What an [`Image`] has next.
#[derive(Debug)]
pub enum Piece<'a> {
    /// A record.
    Record(Record<'a>),
    /// Some are missing here.
    Missed(Missed),
    /// What stands so many bytes from the start of the file is no record. It goes on at the next
    /// place where one is known to begin.
    Damage(u64),
}

impl Image {
    /// Reads all of a file.
    ///
    /// # Errors
    ///
    /// Those of reading, and `InvalidData` if the file holds no ring of this version. One that ends
    /// too early is read as far as it goes.
    pub fn read(source: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        source.take((at::RING + RING_MAX) as u64).read_to_end(&mut bytes)?;
        Self::new(bytes).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the file holds no trace of this version")
        })
    }

    fn new(mut bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() < at::RING
            || !bytes.starts_with(&MAGIC)
            || word(&bytes, at::VERSION) != VERSION
        {
            return None;
        }
        let len = usize::try_from(word(&bytes, at::RING_LEN)).ok()?;
        if !len.is_power_of_two() || !(RING_MIN..=RING_MAX).contains(&len) {
            return None;
        }
        bytes.truncate(at::RING + len);
        // Beyond that no bus comes, and nothing below overflows.
        let end = word(&bytes, at::COMMITTED);
        if i64::try_from(end).is_err() {
            return None;
        }
        let image = Self { bytes, len: len as u64, position: 0, end, expected: None };
        let position = match end.checked_sub(image.len) {
            None => 0,
            Some(oldest) => image.first_from(oldest),
        };
        Some(Self { position, ..image })
    }

    /// How many nanoseconds the time of day was ahead of the monotonic clock.
    pub fn clock(&self) -> i64 {
        word(&self.bytes, at::CLOCK) as i64
    }

    /// Bytes that are kept of each message.
    pub fn kept(&self) -> u32 {
        word(&self.bytes, at::KEPT) as u32
    }

    /// What comes next; `None` at the end.
    pub fn step(&mut self) -> Option<Piece<'_>> {
        loop {
            if self.position >= self.end {
                return None;
            }
            let start = (self.position % self.len) as usize;
            let Some(header) = self.header(start) else {
                self.position = self.first_from(self.position + 1);
                return Some(Piece::Damage((at::RING + start) as u64));
            };
            if header.kind == Kind::Padding as u32 {
                self.position += u64::from(header.len);
                continue;
            }
            if let Some(missed) = header.place.since(self.expected.unwrap_or(header.place)) {
                self.expected = Some(header.place);
                return Some(Piece::Missed(missed));
            }
            self.position += u64::from(header.len);
            let kind = Kind::from_code(header.kind);
            self.expected = Some(header.place.after(kind.unwrap_or(Kind::Padding)));
            let body = at::RING + start + RECORD_HEADER..at::RING + start + header.len as usize;
            let entry = kind.and_then(|kind| Entry::decode(kind, &self.bytes[body]));
            return Some(match entry {
                Some(entry) => {
                    Piece::Record(Record { number: header.place.records, at: header.at, entry })
                }
                None => Piece::Damage((at::RING + start) as u64),
            });
        }
    }

    /// The header of the record at a place in the ring, if one can stand there.
    fn header(&self, start: usize) -> Option<Header> {
        let room = self.bytes.get(at::RING + start..).unwrap_or_default();
        let mut bytes = [0; RECORD_HEADER];
        let count = room.len().min(RECORD_HEADER);
        bytes[..count].copy_from_slice(&room[..count]);
        let header = Header::parse(&bytes);
        let len = header.len as usize;
        let shortest = if header.kind == Kind::Padding as u32 { 8 } else { RECORD_HEADER };
        (len >= shortest && len <= room.len() && len.is_multiple_of(8)).then_some(header)
    }

    /// The first position from `position` on at which a record is known to begin.
    fn first_from(&self, position: u64) -> u64 {
        (0..SEGMENTS)
            .map(|segment| word(&self.bytes, at::SEGMENT_TABLE + 8 * segment))
            .filter(|&first| first >= position && first.is_multiple_of(8))
            .min()
            .unwrap_or(self.end)
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
