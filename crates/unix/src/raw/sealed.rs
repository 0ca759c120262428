//! A mapping of memory that nothing can change.

use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use rustix::mm::{MapFlags, ProtFlags};
use std::os::fd::BorrowedFd;
use std::{io, slice};

use super::Pages;

/// The pages of memory that is sealed against writing and shrinking.
#[derive(Debug)]
pub(crate) struct SealedPages(Pages);

impl SealedPages {
    /// Maps all of the memory for reading. The kernel provides the pages at once.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the memory is not sealed. Other errors if the memory is empty, or if
    /// mappings run out.
    pub(crate) fn map(memory: BorrowedFd<'_>) -> io::Result<Self> {
        let seals = fcntl_get_seals(memory).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::WRITE | SealFlags::SHRINK) {
            let what = "the descriptor is not one of sealed memory";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let len = usize::try_from(fstat(memory)?.st_size).unwrap_or(0);
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        Pages::map_with(memory, len, ProtFlags::READ, flags).map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are mapped and readable as long as `self` exists. They were sealed
        // before, so the memory keeps them, and no process can change them.
        unsafe { slice::from_raw_parts(self.0.start().as_ptr(), self.0.len()) }
    }
}
