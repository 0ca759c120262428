//! Memory of this process: memory passed to another program as a descriptor (memfd_create(2)), and
//! memory returned to the kernel.

use crate::raw::HugePages;
use crate::{process, raw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::hint;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::fd::OwnedFd;
pub use unix::shared::SealedContent;

/// Creates memory with the content `bytes`, sealed so that its content and length cannot change.
/// `/proc` shows `name` for it.
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = create(name)?;
    file.write_all(bytes)?;
    seal(&file)?;
    Ok(file.into())
}

/// Creates empty memory, which can be written like a file and then [sealed](seal). `/proc` shows
/// `name` for it.
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn create(name: &str) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(memfd_create(name, flags)?.into())
}

/// Seals memory so that its content and length cannot change any more.
///
/// # Errors
///
/// Fails if the file was not [created](create) as such memory, or if the memory is mapped for
/// writing.
pub fn seal(memory: &File) -> io::Result<()> {
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    Ok(fcntl_add_seals(memory, seals)?)
}

/// Returns the resident memory of this process in bytes; `None` without `/proc`.
#[must_use]
pub fn resident() -> Option<u64> {
    process::resident_bytes(std::process::id())
}

/// Returns free memory of the allocator to the kernel (malloc_trim(3)). Does nothing if the C
/// library has no such function.
pub fn give_back() {
    raw::give_back_memory();
}

/// Memory that the allocator has taken from the kernel in advance, in huge pages if the kernel offers
/// them. Filling a large heap is then several times as fast, as the kernel provides 512 small pages at
/// once.
///
/// Dropping this ends the preference for huge pages, so that memory that is freed can be returned in
/// small pages. Without the C library of GNU, nothing is taken in advance.
#[derive(Debug)]
pub struct HeapReserve {
    blocks: Vec<Range<usize>>,
}

impl HeapReserve {
    /// Takes about `len` bytes, which the kernel provides when they are used. Takes less if there is
    /// not enough memory, and nothing if the address space is limited, because what is reserved would
    /// be missing elsewhere.
    #[must_use]
    pub fn new(len: usize) -> Self {
        if is_address_space_limited() {
            return Self { blocks: Vec::new() };
        }
        let block_len = len.min(BLOCK_MAX);
        // The allocator of GNU gets each large block from the kernel, and returns it. But when it frees
        // a block that is larger than all before, it keeps blocks of this size from then on.
        drop(hint::black_box(block(block_len + BLOCK_HEADER)));
        let count = len.div_ceil(block_len.max(1));
        let blocks: Vec<Vec<u8>> = (0..count).map_while(|_| block(block_len)).collect();
        let range = |block: &Vec<u8>| {
            let start = block.as_ptr().addr();
            start..start + block.capacity()
        };
        let ranges: Vec<_> = hint::black_box(&blocks).iter().map(range).collect();
        for range in &ranges {
            raw::advise_huge_pages(range.clone(), HugePages::Wanted);
        }
        Self { blocks: ranges }
    }
}

impl Drop for HeapReserve {
    fn drop(&mut self) {
        for range in &self.blocks {
            raw::advise_huge_pages(range.clone(), HugePages::Unwanted);
        }
    }
}

/// Whether this process has a limit on its address space or its data (`RLIMIT_AS`, `RLIMIT_DATA`).
fn is_address_space_limited() -> bool {
    let limits = [Resource::As, Resource::Data].map(getrlimit);
    limits.iter().any(|limit| limit.current.is_some())
}

/// Allocates a block of this size, if there is enough memory.
fn block(len: usize) -> Option<Vec<u8>> {
    let mut block = Vec::new();
    block.try_reserve_exact(len).ok()?;
    Some(block)
}

/// The size of the largest blocks that the allocator of GNU keeps, without their headers.
const BLOCK_MAX: usize = (32 << 20) - 2 * BLOCK_HEADER;

/// More than the allocator adds to a block.
const BLOCK_HEADER: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _};
    use std::os::fd::AsFd as _;

    #[test]
    #[cfg(target_env = "gnu")]
    fn free_memory_is_returned_to_the_kernel() {
        // Small allocations between others that remain: no allocator returns them on its own.
        let mut pieces: Vec<Option<Box<[u8; 1000]>>> =
            (0..50_000).map(|_| Some(Box::new([1; 1000]))).collect();
        let full = resident().unwrap();
        (0..pieces.len()).filter(|at| at % 1000 != 0).for_each(|at| pieces[at] = None);
        give_back();
        let left = resident().unwrap();
        assert!(left + (30 << 20) < full, "{full} and then {left} bytes");
        assert_eq!(pieces.iter().flatten().count(), 50);
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn a_reserved_heap_is_used_by_small_allocations() {
        let reserve = HeapReserve::new(40 << 20);
        let range = reserve.blocks[0].start..reserve.blocks.last().unwrap().end;
        let pieces: Vec<Box<[u8; 1000]>> = (0..20_000).map(|_| Box::new([1; 1000])).collect();
        let inside = pieces.iter().filter(|piece| range.contains(&piece.as_ptr().addr()));
        assert!(inside.count() > 10_000, "most of the pieces are in the reserved memory");
    }

    #[test]
    fn sealed_memory_can_be_read_but_not_written() {
        let mut file = File::from(sealed("test", b"content").unwrap());
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        assert!(file.write_all(b"more").is_err());
        assert!(file.set_len(3).is_err());
    }

    #[test]
    fn only_the_content_of_sealed_memory_is_mapped() {
        let content = |memory: &File| SealedContent::map(memory.as_fd());
        for bytes in [&b""[..], b"content", &[7; 10_000]] {
            let memory = File::from(sealed("test", bytes).unwrap());
            assert_eq!(&*content(&memory).unwrap(), bytes);
        }
        let mut memory = create("test").unwrap();
        memory.write_all(b"content").unwrap();
        assert_eq!(content(&memory).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(content(&File::open("/proc/self/exe").unwrap()).is_err());
    }
}
