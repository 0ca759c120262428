//! Where the bytes of messages are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A place in the [`Store`]: which part of it, and how far from the start of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place(u64);

/// The bytes of all messages: those of an uncompressed file stay in it, all others are kept here.
#[derive(Debug, Default)]
pub(super) struct Store {
    files: Vec<File>,
    kept: Vec<u8>,
}

/// Bits of a place that are the offset; no file is longer than that.
const OFFSET_BITS: u32 = 48;

impl Place {
    const fn new(part: u64, offset: u64) -> Self {
        Self(part << OFFSET_BITS | offset)
    }

    /// 0 is what is kept here; the rest are files.
    const fn part(self) -> usize {
        (self.0 >> OFFSET_BITS) as usize
    }

    const fn offset(self) -> u64 {
        self.0 & ((1 << OFFSET_BITS) - 1)
    }
}

impl Store {
    /// From now on, places are in this file.
    pub(super) fn open(&mut self, file: File) {
        self.files.push(file);
    }

    /// The place `offset` bytes from the start of the file opened last.
    pub(super) fn in_file(&self, offset: u64) -> Place {
        Place::new(self.files.len() as u64, offset)
    }

    /// Keeps a copy.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Place {
        let offset = self.kept.len() as u64;
        self.kept.extend_from_slice(bytes);
        Place::new(0, offset)
    }

    /// Reads `len` bytes into `buffer`, in place of what it holds.
    pub(super) fn read(&self, place: Place, len: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        match place.part().checked_sub(1) {
            None => {
                let start = place.offset() as usize;
                buffer.extend_from_slice(&self.kept[start..start + len]);
                Ok(())
            }
            Some(file) => {
                buffer.resize(len, 0);
                self.files[file].read_exact_at(buffer, place.offset())
            }
        }
    }
}
