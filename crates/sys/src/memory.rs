//! How the allocator deals with the kernel (mallopt(3)).

use crate::raw;

/// Lets the allocator keep up to `bytes` of freed memory for later use, and no longer ask the
/// kernel for each large block by itself. For a program that allocates and frees large blocks all
/// the time: memory fresh from the kernel costs a page fault for every 4 KiB.
///
/// Without the allocator of glibc this does nothing.
pub fn keep_freed(bytes: u32) {
    raw::keep_freed_memory(i32::try_from(bytes).unwrap_or(i32::MAX));
}
