//! Another program in this process. The simulation replaces the event loop by itself instead.

use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

use crate::launch::LaunchedProgram;

pub use real::reexec::{own_program, set_name};

/// Executes nothing and returns an error.
pub fn execute(_: &Path, _: &LaunchedProgram, _: &[BorrowedFd<'_>]) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// A keeper that keeps nothing, because no program is executed.
#[derive(Debug)]
pub struct DescriptorKeeper;

impl DescriptorKeeper {
    /// Keeps nothing.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub const fn start() -> io::Result<Self> {
        Ok(Self)
    }

    /// Executes nothing and returns an error.
    pub fn execute(&self, _: RawFd, _: LaunchedProgram) -> io::Error {
        io::ErrorKind::Unsupported.into()
    }
}
