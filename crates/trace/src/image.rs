//! A ring that nobody writes any more, as the bytes of a file. Several can stand in a file, one behind
//! the other.

use std::io::{self, Read};

use crate::layout::{Header, Layout, MAGIC, RECORD_HEADER, RING_MAX, RING_MIN, SEGMENTS, at};
use crate::record::{Entry, Kind, Missed, Place, Record};

/// The records of a ring that was written to a file. Nothing in the file is trusted.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
    layout: Layout,
    len: u64,
    position: u64,
    end: u64,
    /// The place of the record that should come next, once one has come.
    expected: Option<Place>,
    /// Whether the records before the next one are behind the end of a file that is cut.
    skips_cut: bool,
}

/// What an [`Image`] has next.
#[derive(Debug)]
pub enum Piece<'a> {
    /// A record.
    Record(Record<'a>),
    /// Some are missing here.
    Missed(Missed),
    /// Records are missing here because the file is cut; `None` if they cannot be counted.
    Cut(Option<Missed>),
    /// What stands so many bytes from the start of the file is no record. It goes on at the next
    /// place where one is known to begin.
    Damage(u64),
}

impl Image {
    /// Reads the ring that begins here, and nothing behind it.
    ///
    /// # Errors
    ///
    /// Those of reading; `UnexpectedEof` if the file is cut in the header of a ring; `InvalidData` if no
    /// ring of this version begins here. A ring that is cut behind its header is read as far as it goes.
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
        // Beyond that no bus comes, and nothing below overflows.
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

    /// How many nanoseconds the time of day was ahead of the monotonic clock.
    pub fn clock(&self) -> i64 {
        word(&self.bytes, at::CLOCK) as i64
    }

    /// Bytes that are kept of each message.
    pub fn kept(&self) -> u32 {
        word(&self.bytes, at::KEPT) as u32
    }

    /// Bytes of the ring in a file.
    pub const fn file_len(&self) -> u64 {
        at::RING as u64 + self.len
    }

    /// Whether the file ends before the end of the ring, the part included in which nothing was written.
    pub const fn is_short(&self) -> bool {
        (self.bytes.len() as u64) < self.file_len()
    }

    /// Whether the file ends before the end of what was written.
    pub fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < at::RING as u64 + self.len.min(self.end)
    }

    /// What comes next; `None` at the end.
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
            if header.kind == Kind::Padding as u32 {
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
            let kind = Kind::from_code(header.kind);
            self.expected = Some(header.place.after(kind.unwrap_or(Kind::Padding)));
            let body = at::RING + start + RECORD_HEADER..at::RING + start + header.len as usize;
            let decode = |kind| Entry::decode(self.layout, kind, &self.bytes[body]);
            let entry = kind.and_then(decode);
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
        let (header, room) = self.header_bytes(start);
        let len = header.len as usize;
        let shortest = if header.kind == Kind::Padding as u32 { 8 } else { RECORD_HEADER };
        (len >= shortest && len <= room && len.is_multiple_of(8)).then_some(header)
    }

    /// What stands at a place where no record was found: whether it is the end of a file that is cut.
    fn is_cut_in_record(&self, start: usize) -> bool {
        let (header, room) = self.header_bytes(start);
        self.is_short() && (room < RECORD_HEADER || header.len as usize > room)
    }

    /// The bytes of a header at a place in the ring, zeros for those that are missing, and how many
    /// bytes of the ring there are from this place on.
    fn header_bytes(&self, start: usize) -> (Header, usize) {
        let room = self.bytes.get(at::RING + start..).unwrap_or_default();
        let mut bytes = [0; RECORD_HEADER];
        let count = room.len().min(RECORD_HEADER);
        bytes[..count].copy_from_slice(&room[..count]);
        (Header::parse(&bytes), room.len())
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

/// Whether a file ends with these bytes, which are the beginning of a header.
fn is_cut_header(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    !bytes.is_empty() && bytes.len() < at::RING && MAGIC.starts_with(start)
}

/// The layout and the length of a ring, by its header.
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
