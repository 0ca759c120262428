//! Memory that one process writes and other processes read at the same time, without a system call.
//!
//! All accesses are atomic and have the size of a word: eight bytes at a multiple of eight. They
//! are relaxed unless their name says otherwise. So if a reader copies several words while the
//! writer changes them, it gets some old and some new words. Writer and readers need a protocol to
//! detect this, for example a word that the writer stores last with [`Writable::store_release`].
//!
//! ```
//! use unix::shared::{ReadOnly, Writable};
//! use std::os::fd::AsFd;
//!
//! let (mut memory, descriptor) = Writable::new("example", 4096)?;
//! let reader = ReadOnly::map(descriptor.as_fd())?;
//! memory.write(8, [b"hello"]);
//! memory.store_release(0, 5);
//!
//! let mut text = vec![0; reader.load_acquire(0) as usize];
//! reader.read(8, &mut text);
//! assert_eq!(text, b"hello");
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::raw::{Pages, ReadOnlyMapping, SealedPages, WritableMapping};
use rustix::fs::{
    MemfdFlags, Mode, OFlags, SealFlags, fchmod, fcntl_add_seals, fstat, ftruncate, memfd_create,
};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Memory that this process writes and other processes may read.
#[derive(Debug)]
pub struct Writable {
    mapping: WritableMapping,
    /// The only descriptor with which the memory can be written.
    file: OwnedFd,
}

/// Memory that another process writes. It can only be read.
#[derive(Debug)]
pub struct ReadOnly(ReadOnlyMapping);

/// Memory that the kernel has not provided yet. Without [`provide`](Self::provide), it provides
/// each page at the first write, in a page fault that takes microseconds.
#[derive(Debug)]
pub struct Unprovided(Arc<Pages>);

/// Creates memory of `len` zero bytes. Each process that gets the descriptor can map it to write or
/// to read, and nobody can change its length. `/proc` shows `name` for it.
///
/// # Errors
///
/// Fails if `len` is 0, or if descriptors or memory run out.
pub fn create(name: &str, len: usize) -> io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, len as u64)?;
    // A seal against writing would also keep a program from mapping the memory that replaces
    // this one in the same process.
    fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

impl Writable {
    /// Creates memory of `len` zero bytes, and a descriptor with which other processes can map it.
    /// The descriptor is read-only, and nobody can change the length of the memory. Other users
    /// cannot open the memory for writing. `/proc` shows `name` for it.
    ///
    /// # Errors
    ///
    /// Fails if `len` is 0, if descriptors or memory run out, or without `/proc`.
    pub fn new(name: &str, len: usize) -> io::Result<(Self, OwnedFd)> {
        let file = create(name, len)?;
        fchmod(&file, Mode::RUSR)?;
        Self::adopt(file)
    }

    /// Restores memory from its [descriptor](Self::descriptor), in another program that has
    /// replaced the one that created it. Returns it with a descriptor for readers.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor is not sealed against shrinking. Other errors if the memory
    /// cannot be mapped or opened again.
    pub fn adopt(file: OwnedFd) -> io::Result<(Self, OwnedFd)> {
        let memory = Self::map(file)?;
        let path = format!("/proc/self/fd/{}", memory.file.as_raw_fd());
        let reader = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok((memory, reader))
    }

    /// Maps all of the memory of a descriptor that [`create`] returned.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor is not sealed against shrinking. Other errors if the memory
    /// cannot be mapped.
    pub fn map(file: OwnedFd) -> io::Result<Self> {
        let len = sealed_len(file.as_fd())?;
        let mapping = WritableMapping::map(file.as_fd(), len)?;
        Ok(Self { mapping, file })
    }

    /// The descriptor with which [`Self::adopt`] restores the memory.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.mapping.pages().len()
    }

    /// Always false, as the kernel maps no memory of length 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a handle with which a thread can make the kernel provide the memory.
    pub fn unprovided(&self) -> Unprovided {
        Unprovided(Arc::clone(self.mapping.pages()))
    }

    /// Copies the bytes of `parts` into the memory, one part directly behind the other, from byte
    /// offset `at` on. If they do not fill the last word, the rest of that word becomes zero.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if a word is not within the memory.
    #[inline]
    pub fn write<const N: usize>(&mut self, at: usize, parts: [&[u8]; N]) {
        self.mapping.write(at, parts);
    }

    /// Stores words one after the other, from byte offset `at` on, in the byte order of the
    /// machine.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if a word is not within the memory.
    #[inline]
    pub fn write_words<const N: usize>(&mut self, at: usize, words: [u64; N]) {
        self.mapping.write_words(at, words);
    }

    /// Stores the word at byte offset `at`.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the memory.
    #[inline]
    pub fn store(&mut self, at: usize, value: u64) {
        self.mapping.store(at, value);
    }

    /// Stores the word at byte offset `at` with release ordering: a reader that gets this value
    /// with [`ReadOnly::load_acquire`] also gets everything that was stored before.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the memory.
    #[inline]
    pub fn store_release(&mut self, at: usize, value: u64) {
        self.mapping.store_release(at, value);
    }
}

impl Unprovided {
    /// Makes the kernel provide all of the memory. Stops early if the [`Writable`] is dropped, if
    /// memory runs out, or before Linux 5.14.
    pub fn provide(self) {
        let Self(pages) = self;
        for start in (0..pages.len()).step_by(PROVIDED_AT_ONCE) {
            let end = pages.len().min(start + PROVIDED_AT_ONCE);
            if Arc::strong_count(&pages) == 1 || pages.populate(start..end).is_err() {
                return;
            }
        }
    }
}

impl ReadOnly {
    /// Maps all of the memory of a descriptor that [`Writable::new`] or [`create`] returned.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor is not sealed against shrinking: an access beyond a reduced
    /// length would end this process. Other errors if mapping fails.
    pub fn map(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        ReadOnlyMapping::map(descriptor, sealed_len(descriptor)?).map(Self)
    }

    /// The length in bytes.
    pub const fn len(&self) -> usize {
        self.0.pages().len()
    }

    /// Always false, as the kernel maps no memory of length 0.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes out, from byte offset `at` on. If the writer changes them at the same time,
    /// some words are old and some are new.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if a word that contains one of the bytes is
    /// not within the memory.
    #[inline]
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        self.0.read(at, bytes);
    }

    /// Loads the word at byte offset `at`.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the memory.
    #[inline]
    pub fn load(&self, at: usize) -> u64 {
        self.0.load(at)
    }

    /// Loads the word at byte offset `at` with acquire ordering, see [`Writable::store_release`].
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the memory.
    #[inline]
    pub fn load_acquire(&self, at: usize) -> u64 {
        self.0.load_acquire(at)
    }
}

/// The content of memory that nobody can change any more.
#[derive(Debug)]
pub struct SealedContent(Option<SealedPages>);

impl SealedContent {
    /// Maps the content.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the descriptor does not refer to sealed memory. Other errors if mappings
    /// run out.
    pub fn map(memory: BorrowedFd<'_>) -> io::Result<Self> {
        // The kernel maps no memory of length 0.
        let has_content = fstat(memory)?.st_size > 0;
        Ok(Self(has_content.then(|| SealedPages::map(memory)).transpose()?))
    }
}

impl Deref for SealedContent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], SealedPages::bytes)
    }
}

/// The length of memory that nobody can shrink.
fn sealed_len(descriptor: BorrowedFd<'_>) -> io::Result<usize> {
    let seals = rustix::fs::fcntl_get_seals(descriptor).unwrap_or(SealFlags::empty());
    if !seals.contains(SealFlags::SHRINK) {
        let what = "the descriptor is not one of sealed memory";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(usize::try_from(fstat(descriptor)?.st_size).unwrap_or(0))
}

/// The number of bytes that [`Unprovided::provide`] requests in one system call. During a call,
/// other threads cannot map or unmap memory, and dropping the [`Writable`] is not noticed.
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
        // The writer is gone.
        let unprovided = memory.unprovided();
        drop(memory);
        unprovided.provide();
    }

    #[test]
    fn a_reader_cannot_write() {
        let (memory, descriptor) = Writable::new("test", 8192).unwrap();
        assert_eq!(memory.len(), 8192);
        assert!(WritableMapping::map(descriptor.as_fd(), 8192).is_err());
        assert!(ftruncate(&descriptor, 0).is_err());
        assert!(ftruncate(&memory.file, 0).is_err(), "nobody can change the length");
        assert!(rustix::io::write(&descriptor, b"x").is_err());
    }

    #[test]
    fn memory_continues_after_it_is_adopted() {
        let (mut memory, reader) = Writable::new("test", 4096).unwrap();
        memory.store(8, 7);
        let reader = ReadOnly::map(reader.as_fd()).unwrap();
        let descriptor = memory.descriptor().try_clone_to_owned().unwrap();
        drop(memory);
        let (mut memory, later) = Writable::adopt(descriptor).unwrap();
        memory.store(16, 9);
        let later = ReadOnly::map(later.as_fd()).unwrap();
        for reader in [reader, later] {
            assert_eq!((reader.load(8), reader.load(16)), (7, 9));
        }
    }

    #[test]
    fn whoever_has_the_descriptor_can_write() {
        let file = create("test", 4096).unwrap();
        let reader = ReadOnly::map(file.as_fd()).unwrap();
        let mut memory = Writable::map(file.try_clone().unwrap()).unwrap();
        memory.store(8, 7);
        assert_eq!(reader.load(8), 7);
        assert!(ftruncate(&file, 0).is_err());
    }

    #[test]
    fn a_file_that_could_shrink_is_not_mapped() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 4096).unwrap();
        assert_eq!(ReadOnly::map(file.as_fd()).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn bytes_of_any_length_are_written_in_whole_words() {
        let (mut memory, descriptor) = Writable::new("test", 4096).unwrap();
        let reader = ReadOnly::map(descriptor.as_fd()).unwrap();
        let bytes: Vec<u8> = (1..=40).collect();
        for first in 0..=20 {
            for second in 0..=20 {
                let parts = [&bytes[..first], &bytes[first..first + second]];
                let len = first + second;
                memory.write_words(64, [u64::MAX; 6]);
                memory.write(64, parts);
                let mut found = [0; 48];
                reader.read(64, &mut found);
                let end = len.next_multiple_of(8);
                assert_eq!(found[..len], bytes[..len], "{first}, {second}");
                assert!(found[len..end].iter().all(|&byte| byte == 0), "{first}, {second}");
                assert!(found[end..].iter().all(|&byte| byte == 0xff), "{first}, {second}");
                let mut part = vec![0; len];
                reader.read(64, &mut part);
                assert_eq!(part, bytes[..len]);
            }
        }
    }

    #[test]
    fn accesses_outside_of_the_memory_panic() {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        let (mut memory, descriptor) = Writable::new("test", 4096).unwrap();
        let reader = ReadOnly::map(descriptor.as_fd()).unwrap();
        memory.write(4088, [b"12345678"]);
        memory.store(4088, 1);
        reader.read(4080, &mut [0; 16]);
        reader.read(4096, &mut []);
        let mut panics = |access: &mut dyn FnMut(&mut Writable)| {
            let access = AssertUnwindSafe(|| access(&mut memory));
            assert!(catch_unwind(access).is_err());
        };
        panics(&mut |memory| memory.store(4096, 1));
        panics(&mut |memory| memory.store(4, 1));
        panics(&mut |memory| memory.store_release(usize::MAX - 7, 1));
        panics(&mut |memory| memory.write(4088, [b"123456789"]));
        panics(&mut |memory| memory.write(4090, [b"1"]));
        panics(&mut |memory| memory.write_words(4088, [1, 2]));
        panics(&mut |_| reader.read(4088, &mut [0; 9]));
        panics(&mut |_| reader.read(4097, &mut []));
        panics(&mut |_| assert_eq!(reader.load(4096), 0));
        panics(&mut |_| assert_eq!(reader.load_acquire(1), 0));
    }
}
