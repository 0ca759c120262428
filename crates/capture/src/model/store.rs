//! Where the bytes of messages are.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A place in the [`Store`]: which part of it, and how far from the start of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoredPlace(u64);

/// The bytes of all messages: those of an uncompressed file stay in it, all others are kept here.
#[derive(Debug, Default)]
pub(super) struct Store {
    files: Vec<Box<dyn ReadAt>>,
    current: StoredFile,
    kept: Vec<u8>,
}

/// A file of which any part can be read again.
pub(super) trait ReadAt: fmt::Debug + Send + Sync {
    /// Fills `buffer` with what begins `offset` bytes from the start.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A file that is in memory.
impl ReadAt for Arc<Vec<u8>> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..));
        let bytes = rest.and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// One of the files: its number, from 1. 0 is what is kept here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct StoredFile(u64);

/// Bits of a place that are the offset; no file is longer than that.
const OFFSET_BITS: u32 = 48;

impl StoredPlace {
    const fn new(part: StoredFile, offset: u64) -> Self {
        Self(part.0 << OFFSET_BITS | offset)
    }

    const fn part(self) -> StoredFile {
        StoredFile(self.0 >> OFFSET_BITS)
    }

    const fn offset(self) -> u64 {
        self.0 & ((1 << OFFSET_BITS) - 1)
    }
}

impl Store {
    /// Takes a file in which places can be.
    pub(super) fn open(&mut self, file: impl ReadAt + 'static) -> StoredFile {
        self.files.push(Box::new(file));
        StoredFile(self.files.len() as u64)
    }

    /// From now on, places are in this file.
    pub(super) const fn select(&mut self, part: StoredFile) {
        self.current = part;
    }

    /// The place `offset` bytes from the start of the file that places are in.
    pub(super) const fn in_file(&self, offset: u64) -> StoredPlace {
        StoredPlace::new(self.current, offset)
    }

    /// Keeps a copy.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> StoredPlace {
        let offset = self.kept.len() as u64;
        self.kept.extend_from_slice(bytes);
        StoredPlace::new(StoredFile::default(), offset)
    }

    /// Reads `len` bytes into `buffer`, in place of what it holds.
    pub(super) fn read(
        &self,
        place: StoredPlace,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        buffer.clear();
        match place.part().0.checked_sub(1) {
            None => {
                let start = place.offset() as usize;
                buffer.extend_from_slice(&self.kept[start..start + len]);
                Ok(())
            }
            Some(file) => {
                buffer.resize(len, 0);
                self.files[file as usize].read_exact_at(buffer, place.offset())
            }
        }
    }
}
