//! Unguessable bytes from the kernel.

use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// Fills `bytes` with random values suitable for secrets (getrandom(2)). Right after boot, it may
/// block until the kernel has collected enough entropy.
///
/// # Errors
///
/// Fails only if a sandbox forbids the call.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        filled += retry_on_intr(|| getrandom(&mut bytes[filled..], GetRandomFlags::empty()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_buffer_is_filled() {
        fill(&mut []).unwrap();
        let mut bytes = vec![0; 100_000];
        fill(&mut bytes).unwrap();
        // Thirty-two zeros in a row are practically impossible.
        assert!(bytes.chunks(32).all(|chunk| chunk.iter().any(|&byte| byte != 0)));
    }
}
