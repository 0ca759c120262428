//! The limit of open files of the simulated machine. It is independent of the limit of this
//! process.

pub use real::rlimit::OpenFiles;

use crate::machine;

/// Returns how many descriptors the daemon may have open, or `u64::MAX` if the machine has no
/// limit.
#[must_use]
pub fn open_files_max() -> u64 {
    machine::with(|machine| machine.open_files())
}
