//! Random bytes, reproducible from the seed of the machine.

use std::io;

use crate::machine;

/// Fills `bytes` from the generator of the machine.
///
/// # Errors
///
/// Never fails.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    machine::with(|machine| {
        bytes.chunks_mut(8).for_each(|chunk| {
            chunk.copy_from_slice(&machine.chance.number().to_ne_bytes()[..chunk.len()]);
        });
    });
    Ok(())
}
