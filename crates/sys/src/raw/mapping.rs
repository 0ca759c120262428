//! Memory that other processes map, too.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::{io, ptr};

/// A mapping of memory that other processes may map, too.
///
/// Nobody gets a reference to its bytes: they are copied in and out, since another process may
/// change them at any time. Words at multiples of eight can be accessed atomically.
#[derive(Debug)]
pub(crate) struct SharedMapping {
    start: NonNull<u8>,
    len: usize,
    pages: Arc<Pages>,
}

/// The pages of a mapping, which is there until the last of these is dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone, and to the whole process, not to a thread.
unsafe impl Send for SharedMapping {}
// SAFETY: as above; what it can be asked for does not touch the bytes.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl SharedMapping {
    /// Maps the first `len` bytes of a file, which must never become shorter than that.
    ///
    /// Only a mapping with [`ProtFlags::WRITE`] may be written.
    pub(crate) fn map(file: BorrowedFd<'_>, len: usize, access: ProtFlags) -> io::Result<Self> {
        // SAFETY: the kernel chooses the place, so nothing that is mapped is replaced.
        let start = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at zero");
        Ok(Self { start, len, pages: Arc::new(Pages { start, len }) })
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// Copies bytes in. The mapping must be writable.
    #[inline]
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(self.len.checked_sub(at).is_some_and(|room| bytes.len() <= room), "in the mapping");
        // SAFETY: the range was checked, `bytes` is no part of the mapping since nobody gets a
        // reference to that, and who made the mapping made it writable. Other processes only read.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len());
        }
    }

    /// Copies words in, each from a register where that is where it is. The mapping must be
    /// writable.
    #[inline]
    pub(crate) fn write_words<const N: usize>(&mut self, at: usize, words: [u64; N]) {
        assert!(self.len.checked_sub(at).is_some_and(|room| 8 * N <= room), "in the mapping");
        // SAFETY: as for `write`.
        unsafe {
            let place = self.start.as_ptr().add(at).cast::<u64>();
            for (index, word) in words.into_iter().enumerate() {
                place.add(index).write_unaligned(word);
            }
        }
    }

    /// Copies bytes out. If another process writes there meanwhile they are a mixture.
    #[inline]
    pub(crate) fn read(&self, at: usize, bytes: &mut [u8]) {
        assert!(self.len.checked_sub(at).is_some_and(|room| bytes.len() <= room), "in the mapping");
        // SAFETY: the range was checked, and `bytes` is no part of the mapping. Any bytes are
        // bytes: whether they can be believed is found out by the caller, by positions.
        unsafe {
            ptr::copy_nonoverlapping(self.start.as_ptr().add(at), bytes.as_mut_ptr(), bytes.len());
        }
    }

    /// The word at a multiple of eight. Only in a writable mapping may it be stored to.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        assert!(
            at.is_multiple_of(8) && at < self.len && self.len - at >= 8,
            "a word in the mapping"
        );
        // SAFETY: the place is aligned, since mappings begin with a page, and mapped as long as
        // `self` lives; all processes access it atomically.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }
}

impl Pages {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Has the kernel provide what is not there yet of some of the bytes, for writing.
    pub(crate) fn populate(&self, range: Range<usize>) -> io::Result<()> {
        assert!(range.start <= range.end && range.end <= self.len, "in the mapping");
        // SAFETY: the range is mapped as long as `self` lives, and what stands there stays.
        let place = unsafe { self.start.as_ptr().add(range.start) };
        // SAFETY: as above.
        unsafe { madvise(place.cast(), range.len(), Advice::LinuxPopulateWrite) }?;
        Ok(())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this place and length, and no borrow of it is left.
        // It fails only for a place that is no page.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
