//! Another program in this process. The simulation replaces the event loop by itself instead.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::launch::LaunchedProgram;

/// Executes nothing and returns an error.
pub fn execute(_: &Path, _: &LaunchedProgram, _: &[BorrowedFd<'_>]) -> io::Error {
    io::ErrorKind::Unsupported.into()
}
