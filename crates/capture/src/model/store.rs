//! The storage of the bytes of messages.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A position in the [`Store`]: a file, and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoredPlace(u64);

/// The bytes of all messages. Messages in an uncompressed file stay in it; all others are stored
/// here.
#[derive(Debug, Default)]
pub(super) struct Store {
    files: Vec<Box<dyn ReadAt>>,
    current: StoredFile,
    kept: Vec<u8>,
}

/// A file that can be read at any offset.
pub(super) trait ReadAt: fmt::Debug + Send + Sync {
    /// Fills `buffer` with the bytes from `offset` on.
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

/// The number of a file, from 1; 0 for bytes that are stored here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct StoredFile(u64);

/// The number of bits of a position that hold the offset. All files are shorter.
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
    /// Adds a file to the store.
    pub(super) fn open(&mut self, file: impl ReadAt + 'static) -> StoredFile {
        self.files.push(Box::new(file));
        StoredFile(self.files.len() as u64)
    }

    /// Selects the file of the following positions.
    pub(super) const fn select(&mut self, part: StoredFile) {
        self.current = part;
    }

    /// The position at `offset` in the selected file.
    pub(super) const fn in_file(&self, offset: u64) -> StoredPlace {
        StoredPlace::new(self.current, offset)
    }

    /// Stores a copy of the bytes.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> StoredPlace {
        let offset = self.kept.len() as u64;
        self.kept.extend_from_slice(bytes);
        StoredPlace::new(StoredFile::default(), offset)
    }

    /// Replaces the content of `buffer` with `len` bytes at a position.
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
