//! Memory of this process: memory passed to another program as a descriptor (memfd_create(2)), and
//! memory returned to the kernel.

use crate::{process, raw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

/// Creates memory with the content `bytes`, sealed so that its content and length cannot change.
/// `/proc` shows `name` for it.
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create(name, flags)?);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _};

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
    fn sealed_memory_can_be_read_but_not_written() {
        let mut file = File::from(sealed("test", b"content").unwrap());
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        assert!(file.write_all(b"more").is_err());
        assert!(file.set_len(3).is_err());
    }
}
