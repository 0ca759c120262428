//! A file read from front to back, a stretch at a time.

use std::io::{self, Read};

/// The part of a file that is in memory: what was read and not yet used.
#[derive(Debug)]
pub(super) struct Window<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `start` stands in the file.
    offset: u64,
}

impl<R: Read> Window<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; STRETCH], start: 0, end: 0, offset: 0 }
    }

    /// Where the next byte stands in the file.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `len` bytes, or fewer at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.end - self.start < len {
            self.fill(len)?;
        }
        let len = len.min(self.end - self.start);
        Ok(&self.buffer[self.start..self.start + len])
    }

    /// Bytes that an earlier `peek` has shown.
    #[inline]
    pub(super) fn shown(&self, len: usize) -> &[u8] {
        &self.buffer[self.start..self.start + len]
    }

    /// Goes on behind the next `len` bytes, which `peek` has shown.
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        self.start += len;
        self.offset += len as u64;
    }

    /// Goes on behind the next `len` bytes, or to the end of the file.
    #[expect(dead_code, reason = "formats with blocks to pass over need it")]
    pub(super) fn skip(&mut self, mut len: u64) -> io::Result<()> {
        while len > 0 {
            let wanted = usize::try_from(len).unwrap_or(usize::MAX).min(STRETCH);
            let step = self.peek(wanted)?.len();
            if step == 0 {
                return Ok(());
            }
            self.advance(step);
            len -= step as u64;
        }
        Ok(())
    }

    #[cold]
    fn fill(&mut self, len: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < len {
            self.make_room(len);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Grows no faster than the file proves to have something to read, whatever a length in it says.
    fn make_room(&mut self, len: usize) {
        if self.end == self.buffer.len() {
            self.buffer.resize(len.min(2 * self.end), 0);
        }
    }
}

/// Bytes asked for at once.
const STRETCH: usize = 1 << 20;
