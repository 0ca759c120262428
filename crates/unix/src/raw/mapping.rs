//! Memory that several processes map at the same time.
//!
//! The bytes can change at any time, so a mapping never lends a `&[u8]` or a `&mut [u8]`. It
//! consists of words of eight bytes, and every access is an atomic access to a whole word. This is
//! a rule of Rust's memory model, not of the processor: a plain copy of memory that a thread or
//! another process changes at the same time is a data race, which is undefined behavior even if the
//! copy is discarded. Accesses of different sizes to the same bytes would be one too.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::{io, ptr, slice};

/// The bytes of one word, the unit of every access.
const WORD: usize = size_of::<u64>();

/// How many words are copied in each turn of a loop.
const UNROLLED: usize = 8;

/// A mapping that this process writes and other processes may read.
///
/// Each method that stores takes `&mut self`: there is one writer.
#[derive(Debug)]
pub(crate) struct WritableMapping(Arc<Pages>);

/// A mapping that another process may write. It has no method that stores: the pages are mapped
/// without the right to write, so a store would end the process with `SIGSEGV`.
#[derive(Debug)]
pub(crate) struct ReadOnlyMapping(Pages);

/// Mapped pages, which are unmapped when this value is dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the whole process, not to a thread, and to this value alone.
unsafe impl Send for Pages {}
// SAFETY: through a shared reference, the words can only be accessed atomically.
unsafe impl Sync for Pages {}

impl WritableMapping {
    /// Maps the first `len` bytes of a file for reading and writing.
    ///
    /// The file must have at least `len` bytes as long as the mapping exists: a file that is sealed
    /// against shrinking does. Otherwise an access can end the process with `SIGBUS`.
    ///
    /// # Errors
    ///
    /// Fails if `len` is 0, if the file must not be written, or if memory or mappings run out.
    pub(crate) fn map(file: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        Pages::map(file, len, ProtFlags::READ | ProtFlags::WRITE).map(|pages| Self(Arc::new(pages)))
    }

    pub(crate) const fn pages(&self) -> &Arc<Pages> {
        &self.0
    }

    /// Stores the word at byte offset `at` with relaxed ordering.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the mapping.
    #[inline]
    pub(crate) fn store(&mut self, at: usize, value: u64) {
        self.0.words(at, WORD)[0].store(value, Ordering::Relaxed);
    }

    /// Stores the word at byte offset `at` with release ordering.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the mapping.
    #[inline]
    pub(crate) fn store_release(&mut self, at: usize, value: u64) {
        self.0.words(at, WORD)[0].store(value, Ordering::Release);
    }

    /// Stores words one after the other from byte offset `at` on, with relaxed ordering.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the words are not within the mapping.
    #[inline]
    pub(crate) fn write_words<const N: usize>(&mut self, at: usize, words: [u64; N]) {
        for (place, word) in self.0.words(at, WORD * N).iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
    }

    /// Stores the bytes of `parts`, one part directly behind the other, from byte offset `at` on,
    /// with relaxed ordering. The bytes of the last word that the parts do not fill become zero.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the words are not within the mapping.
    #[inline]
    pub(crate) fn write<const N: usize>(&mut self, at: usize, parts: [&[u8]; N]) {
        let len = parts.iter().map(|part| part.len()).sum();
        let mut places = self.0.words(at, len);
        // The bytes behind the last whole word: how many there are, then zeros.
        let (mut word, mut filled) = ([0; WORD], 0);
        for mut part in parts {
            if filled > 0 {
                let (fitting, rest) = part.split_at(part.len().min(WORD - filled));
                copy_short(&mut word[filled..], fitting);
                filled += fitting.len();
                if filled < WORD {
                    continue;
                }
                places = store_all(places, &[word]);
                part = rest;
            }
            let (whole, rest) = part.as_chunks();
            places = store_all(places, whole);
            word = [0; WORD];
            copy_short(&mut word, rest);
            filled = rest.len();
        }
        if filled > 0 {
            store_all(places, &[word]);
        }
    }
}

impl ReadOnlyMapping {
    /// Maps the first `len` bytes of a file for reading. The file must have at least `len` bytes as
    /// long as the mapping exists, as for [`WritableMapping::map`].
    ///
    /// # Errors
    ///
    /// Fails if `len` is 0, if the file must not be read, or if memory or mappings run out.
    pub(crate) fn map(file: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        Pages::map(file, len, ProtFlags::READ).map(Self)
    }

    pub(crate) const fn pages(&self) -> &Pages {
        &self.0
    }

    /// Loads the word at byte offset `at` with relaxed ordering.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the mapping.
    #[inline]
    pub(crate) fn load(&self, at: usize) -> u64 {
        self.0.words(at, WORD)[0].load(Ordering::Relaxed)
    }

    /// Loads the word at byte offset `at` with acquire ordering.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if the word is not within the mapping.
    #[inline]
    pub(crate) fn load_acquire(&self, at: usize) -> u64 {
        let value = self.load(at);
        // On memory that is mapped without the right to write, Rust guarantees only relaxed loads
        // ("Atomic accesses to read-only memory" in std::sync::atomic). With the fence it is an
        // acquire load.
        fence(Ordering::Acquire);
        value
    }

    /// Copies bytes out, from byte offset `at` on, with relaxed ordering. If another process writes
    /// them at the same time, some words are old and some are new.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of eight, or if a word that has some of the bytes is not
    /// within the mapping.
    #[inline]
    pub(crate) fn read(&self, at: usize, bytes: &mut [u8]) {
        let places = self.0.words(at, bytes.len());
        let (whole, rest) = bytes.as_chunks_mut();
        let (wholes, last) = places.split_at(whole.len());
        load_all(wholes, whole);
        if let [last] = last {
            let word = last.load(Ordering::Relaxed).to_ne_bytes();
            copy_short(rest, &word);
        }
    }
}

impl Pages {
    fn map(file: BorrowedFd<'_>, len: usize, access: ProtFlags) -> io::Result<Self> {
        Self::map_with(file, len, access, MapFlags::SHARED)
    }

    pub(super) fn map_with(
        file: BorrowedFd<'_>,
        len: usize,
        access: ProtFlags,
        flags: MapFlags,
    ) -> io::Result<Self> {
        assert!(!flags.contains(MapFlags::FIXED), "the kernel chooses the address");
        // SAFETY: the kernel chooses the address, so no other mapping is replaced.
        let start = unsafe { mmap(ptr::null_mut(), len, access, flags, file, 0) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { start, len })
    }

    /// The length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The address of the first byte.
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The words that contain the `len` bytes from byte offset `at` on.
    #[inline]
    fn words(&self, at: usize, len: usize) -> &[AtomicU64] {
        assert!(at.is_multiple_of(WORD), "the offset of a word");
        let (first, count) = (at / WORD, len.div_ceil(WORD));
        // SAFETY: the pages are mapped and readable as long as `self` exists. They begin at a page
        // boundary, so each word is aligned. Every value is valid. Writers in this process are
        // `WritableMapping`s, which store whole words atomically. Pages that are not writable are
        // in a `ReadOnlyMapping`, which only loads. What other processes do is not part of this
        // program: for it, each of their changes is a change of a whole word by somebody else, as
        // the processor makes word-sized aligned accesses indivisible.
        let all: &[AtomicU64] =
            unsafe { slice::from_raw_parts(self.start.as_ptr().cast(), self.len / WORD) };
        &all[first..][..count]
    }

    /// Makes the kernel provide the pages that contain a range of bytes, for writing.
    ///
    /// # Errors
    ///
    /// Fails if the pages are not writable, if memory runs out, or before Linux 5.14.
    ///
    /// # Panics
    ///
    /// Panics if the range is not within the mapping.
    pub(crate) fn populate(&self, range: Range<usize>) -> io::Result<()> {
        assert!(range.start <= range.end && range.end <= self.len, "in the mapping");
        // SAFETY: the offset is at most the length of the mapping.
        let place = unsafe { self.start.as_ptr().add(range.start) };
        // SAFETY: the range is mapped as long as `self` exists, and this advice changes no
        // contents.
        unsafe { madvise(place.cast(), range.len(), Advice::LinuxPopulateWrite) }?;
        Ok(())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and no reference into it is
        // left. The call fails only for an address that is not a page boundary.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Stores words into the first of `places`, and returns the other places.
#[inline]
fn store_all<'p>(places: &'p [AtomicU64], words: &[[u8; WORD]]) -> &'p [AtomicU64] {
    let (places, others) = places.split_at(words.len());
    // The compiler does not unroll loops of atomic accesses.
    let (many_places, few_places) = places.as_chunks::<UNROLLED>();
    let (many_words, few_words) = words.as_chunks::<UNROLLED>();
    for (places, words) in many_places.iter().zip(many_words) {
        for (place, word) in places.iter().zip(words) {
            place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
    }
    for (place, word) in few_places.iter().zip(few_words) {
        place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
    }
    others
}

/// Loads the words of `places`.
#[inline]
fn load_all(places: &[AtomicU64], words: &mut [[u8; WORD]]) {
    let (many_places, few_places) = places.as_chunks::<UNROLLED>();
    let (many_words, few_words) = words.as_chunks_mut::<UNROLLED>();
    for (places, words) in many_places.iter().zip(many_words) {
        for (place, word) in places.iter().zip(words) {
            *word = place.load(Ordering::Relaxed).to_ne_bytes();
        }
    }
    for (place, word) in few_places.iter().zip(few_words) {
        *word = place.load(Ordering::Relaxed).to_ne_bytes();
    }
}

/// Copies fewer bytes than a word has, for which calling memcpy would take longer.
#[inline]
fn copy_short(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
