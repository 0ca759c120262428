//! A buffered reader that allows looking ahead.

use std::io::{self, Read};

use memchr::memchr;

use crate::record::{BusId, Damage, GapCause, RecordingGap, RecordingRecord};

/// The part of a file that is in memory: bytes that were read but not used yet.
#[derive(Debug)]
pub(super) struct FileWindow<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The offset of `start` in the file.
    offset: u64,
    supply: SourceSupply,
}

/// The state of the source after reading.
#[derive(Debug)]
enum SourceSupply {
    More,
    Over,
    /// The file is compressed and cannot be decompressed further.
    Broken(io::Error),
}

impl<R> FileWindow<R> {
    pub(super) fn new(source: R) -> Self {
        let buffer = vec![0; STRETCH];
        Self { source, buffer, start: 0, end: 0, offset: 0, supply: SourceSupply::More }
    }

    /// Replaces the source. Bytes that were already read stay.
    pub(super) fn map<S>(self, map: impl FnOnce(R) -> S) -> FileWindow<S> {
        let Self { source, buffer, start, end, offset, supply } = self;
        FileWindow { source: map(source), buffer, start, end, offset, supply }
    }

    /// The offset of the next byte in the file.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `len` bytes, which an earlier `peek` has returned.
    #[inline]
    pub(super) fn shown(&self, len: usize) -> &[u8] {
        &self.buffer[self.start..self.start + len]
    }

    /// Advances past the next `len` bytes, which an earlier `peek` has returned.
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        self.start += len;
        self.offset += len as u64;
    }

    /// Returns once why decompression ended before the end of the file.
    pub(super) fn failure(&mut self) -> Option<RecordingRecord<'static>> {
        let SourceSupply::Broken(error) = std::mem::replace(&mut self.supply, SourceSupply::Over)
        else {
            return None;
        };
        Some(if error.kind() == io::ErrorKind::UnexpectedEof {
            cut_file()
        } else {
            let at = self.offset + (self.end - self.start) as u64;
            let what =
                format!("the compression is corrupt after this byte of its content: {error}");
            RecordingRecord::Damage(Damage { at, what })
        })
    }

    /// Returns the error of a compressed file that was not recognized as a recording.
    pub(super) fn check(self) -> io::Result<()> {
        match self.supply {
            SourceSupply::Broken(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                let what = format!("the compression is corrupt: {error}");
                Err(io::Error::new(io::ErrorKind::InvalidData, what))
            }
            _ => Ok(()),
        }
    }

    /// The record for an end within an item: a truncated file, or the failure of decompression.
    pub(super) fn early_end(&mut self) -> RecordingRecord<'static> {
        self.failure().unwrap_or_else(cut_file)
    }
}

impl<R: Read> FileWindow<R> {
    /// Returns the next `len` bytes, or fewer at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.end - self.start < len {
            self.fill(len)?;
        }
        let len = len.min(self.end - self.start);
        Ok(&self.buffer[self.start..self.start + len])
    }

    /// Returns the next line, including its newline, if any. Of a line longer than all supported
    /// lines, only a part is returned.
    pub(super) fn line(&mut self) -> io::Result<&[u8]> {
        let mut wanted = LINE_LEN;
        loop {
            let seen = self.peek(wanted)?;
            let end = memchr(b'\n', seen).map(|at| at + 1);
            let is_all = seen.len() < wanted || wanted >= STRETCH;
            if end.is_some() || is_all {
                let len = end.unwrap_or(seen.len());
                return Ok(self.shown(len));
            }
            wanted *= 2;
        }
    }

    /// Advances at least one byte, to the next position at which `is_start` accepts the next `len`
    /// bytes, or to the end of the file. Returns the number of skipped bytes.
    pub(super) fn seek(&mut self, len: usize, is_start: impl Fn(&[u8]) -> bool) -> io::Result<u64> {
        let from = self.offset;
        while !self.peek(1)?.is_empty() {
            self.advance(1);
            if is_start(self.peek(len)?) {
                break;
            }
        }
        Ok(self.offset - from)
    }

    /// A reader of all bytes that were not used yet.
    pub(super) fn into_reader(self) -> impl Read {
        let Self { source, mut buffer, start, end, .. } = self;
        buffer.truncate(end);
        buffer.drain(..start);
        io::Cursor::new(buffer).chain(source)
    }

    #[cold]
    fn fill(&mut self, len: usize) -> io::Result<()> {
        if !matches!(self.supply, SourceSupply::More) {
            return Ok(());
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Without this, a file with many long items would move the buffered bytes for each of them.
        if self.end > self.buffer.len() / 2 {
            self.buffer.resize(2 * self.end, 0);
        }
        while self.end < len {
            self.make_room(len);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.supply = SourceSupply::Over;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_of_the_content(&error) => {
                    self.supply = SourceSupply::Broken(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Grows the buffer only as the file provides bytes, regardless of lengths that the file
    /// claims.
    fn make_room(&mut self, len: usize) {
        if self.end == self.buffer.len() {
            self.buffer.resize(len.min(2 * self.end), 0);
        }
    }
}

/// Reads the buffered bytes first, and then the source.
impl<R: Read> Read for FileWindow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let seen = self.peek(1)?;
        if seen.is_empty() {
            return Ok(0);
        }
        let count = buffer.len().min(self.end - self.start);
        buffer[..count].copy_from_slice(self.shown(count));
        self.advance(count);
        Ok(count)
    }
}

/// The record for a file that ends within an item.
fn cut_file() -> RecordingRecord<'static> {
    RecordingRecord::Gap(RecordingGap {
        at: None,
        bus: BusId(0),
        cause: GapCause::CutFile,
        lost: None,
    })
}

/// Returns true if an error concerns the content of a file, rather than reading it.
fn is_of_the_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof)
}

/// The number of bytes read at once.
const STRETCH: usize = 1 << 20;

/// The number of bytes in which a line usually ends.
const LINE_LEN: usize = 1 << 10;
