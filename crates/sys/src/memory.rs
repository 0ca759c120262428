//! Memory of this process: what can be handed to another program as a descriptor (memfd_create(2)),
//! and what is given back to the kernel.

use crate::{process, raw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

/// Memory that holds `bytes` and that nobody can change any more, neither its content nor its
/// length. `name` is what `/proc` shows of it.
///
/// # Errors
///
/// Only when descriptors or memory run out.
pub fn sealed(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create(name, flags)?);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// Bytes of memory that this process occupies now. `None` where there is no `/proc`.
#[must_use]
pub fn resident() -> Option<u64> {
    process::resident_bytes(std::process::id())
}

/// Gives memory back to the kernel that was allocated once and is free (malloc_trim(3)). Nothing
/// happens where the C library has no such call.
pub fn give_back() {
    raw::give_back_memory();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _};

    #[test]
    #[cfg(target_env = "gnu")]
    fn what_is_free_is_given_back() {
        // Small pieces with some in between that stay: no allocator gives those back by itself.
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
    fn it_can_be_read_and_not_written() {
        let mut file = File::from(sealed("test", b"content").unwrap());
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        assert!(file.write_all(b"more").is_err());
        assert!(file.set_len(3).is_err());
    }
}
