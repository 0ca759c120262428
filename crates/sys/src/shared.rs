//! Memory that one process writes and others read at the same time, without a system call.
//!
//! Writer and readers agree by words that are read and written atomically; all other bytes are
//! copied in and out, and what a reader has copied may be a mixture of old and new until the words
//! say otherwise.
//!
//! ```
//! use diligence_sys::shared::{ReadOnly, Writable};
//! use std::os::fd::AsFd;
//! use std::sync::atomic::Ordering;
//!
//! let (mut memory, descriptor) = Writable::new("example", 4096)?;
//! let reader = ReadOnly::map(descriptor.as_fd())?;
//! memory.write(8, b"hello");
//! memory.store(0, 5, Ordering::Release);
//!
//! let mut text = vec![0; reader.load(0, Ordering::Acquire) as usize];
//! reader.read(8, &mut text);
//! assert_eq!(text, b"hello");
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::raw::{Pages, SharedMapping};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::ProtFlags;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Memory of this process that others may read.
#[derive(Debug)]
pub struct Writable(SharedMapping);

/// Memory that another process writes.
#[derive(Debug)]
pub struct ReadOnly(SharedMapping);

/// Memory that the kernel has not provided yet. It does so page by page when they are first written
/// to, each time with a fault that takes microseconds.
#[derive(Debug)]
pub struct Unprovided(Arc<Pages>);

impl Writable {
    /// `len` bytes, all zero, and the descriptor by which others can map them. Who gets it cannot
    /// write there, nor change the length. `name` is what `/proc` shows of it.
    ///
    /// # Errors
    ///
    /// Only when descriptors or memory run out, or if the kernel is older than 5.1.
    pub fn new(name: &str, len: usize) -> io::Result<(Self, OwnedFd)> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, len as u64)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let mapping = SharedMapping::map(file.as_fd(), len, access)?;
        let seals = SealFlags::FUTURE_WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok((Self(mapping), file))
    }

    /// Bytes there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none; never, as the kernel maps nothing of no length.
    pub const fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// What another thread can see to before it is written to.
    pub fn unprovided(&self) -> Unprovided {
        Unprovided(Arc::clone(self.0.pages()))
    }

    /// Copies bytes in.
    ///
    /// # Panics
    ///
    /// If they would reach behind the end.
    #[inline]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.0.write(at, bytes);
    }

    /// Copies words in, in the byte order of the machine.
    ///
    /// # Panics
    ///
    /// If they would reach behind the end.
    #[inline]
    pub fn write_words<const N: usize>(&mut self, at: usize, words: [u64; N]) {
        self.0.write_words(at, words);
    }

    /// Stores a word.
    ///
    /// # Panics
    ///
    /// If `at` is no multiple of eight, or behind the end.
    #[inline]
    pub fn store(&mut self, at: usize, value: u64, ordering: Ordering) {
        self.0.word(at).store(value, ordering);
    }
}

impl Unprovided {
    /// Has the kernel provide all of it, or as much as it can before the [`Writable`] is dropped.
    pub fn provide(self) {
        let Self(pages) = self;
        for start in (0..pages.len()).step_by(PROVIDED_AT_ONCE) {
            let end = pages.len().min(start + PROVIDED_AT_ONCE);
            // A kernel older than 5.14 cannot; it will when they are written to.
            if Arc::strong_count(&pages) == 1 || pages.populate(start..end).is_err() {
                return;
            }
        }
    }
}

impl ReadOnly {
    /// Maps all of the memory behind a descriptor that [`Writable::new`] has made.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is something else, which could become shorter while it is read.
    pub fn map(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let seals = rustix::fs::fcntl_get_seals(descriptor).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::SHRINK) {
            let what = "the descriptor is not one of sealed memory";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let len = usize::try_from(fstat(descriptor)?.st_size).unwrap_or(0);
        SharedMapping::map(descriptor, len, ProtFlags::READ).map(Self)
    }

    /// Bytes there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none; never, as the kernel maps nothing of no length.
    pub const fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Copies bytes out. They may be a mixture if the writer is there at the same time.
    ///
    /// # Panics
    ///
    /// If they reach behind the end.
    #[inline]
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        self.0.read(at, bytes);
    }

    /// Loads a word.
    ///
    /// # Panics
    ///
    /// If `at` is no multiple of eight, or behind the end.
    #[inline]
    pub fn load(&self, at: usize, ordering: Ordering) -> u64 {
        self.0.word(at).load(ordering)
    }
}

/// Bytes between two looks whether anybody needs them. Meanwhile no other thread can map memory.
const PROVIDED_AT_ONCE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_provided_before_it_is_written() {
        let (memory, file) = Writable::new("test", 3 * PROVIDED_AT_ONCE + 4096).unwrap();
        let blocks = || fstat(&file).unwrap().st_blocks;
        assert_eq!(blocks(), 0);
        memory.unprovided().provide();
        assert!(blocks() * 512 >= memory.len() as i64, "{}", blocks());
        // Nobody is there to write.
        let unprovided = memory.unprovided();
        drop(memory);
        unprovided.provide();
    }

    #[test]
    fn a_reader_cannot_write() {
        let (memory, descriptor) = Writable::new("test", 8192).unwrap();
        assert_eq!(memory.len(), 8192);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        assert!(SharedMapping::map(descriptor.as_fd(), 8192, access).is_err());
        assert!(ftruncate(&descriptor, 0).is_err());
        assert!(rustix::io::write(&descriptor, b"x").is_err());
    }

    #[test]
    fn a_file_that_could_shrink_is_not_mapped() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 4096).unwrap();
        assert_eq!(ReadOnly::map(file.as_fd()).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
