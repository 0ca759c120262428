//! The limit of open files: that of the simulated machine, whatever the process that simulates it may
//! have.

pub use real::rlimit::OpenFiles;

use crate::machine;

/// How many descriptors the daemon may have open; `u64::MAX` if the machine has no limit.
#[must_use]
pub fn open_files_max() -> u64 {
    machine::with(|machine| machine.open_files())
}
