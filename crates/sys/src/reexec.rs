//! Executes another program in this process (execve(2)). The program keeps the process id, the
//! parent and the children of this process, its blocked and pending signals, and the descriptors
//! that this process passes on.
//!
//! [`CommandExt::exec`](std::os::unix::process::CommandExt::exec) unblocks all signals first, so a
//! pending `SIGTERM` would end the process. This module does not.

use crate::daemonize::set_all_close_on_exec;
use crate::launch::LaunchedProgram;
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Executes the file at `path` in this process, with the words and the environment of `program`, and
/// passes `descriptors` on besides the standard
/// streams. The program [takes](crate::inherited::take) them by their numbers. Returns only if that fails; then
/// all descriptors are close-on-exec again.
pub fn execute(
    path: &Path,
    program: &LaunchedProgram,
    descriptors: &[BorrowedFd<'_>],
) -> io::Error {
    let path = match CString::new(path.as_os_str().as_bytes()) {
        Ok(path) => path,
        Err(error) => return error.into(),
    };
    let passed = descriptors.iter().try_for_each(|fd| fcntl_setfd(fd, FdFlags::empty()));
    let error = match passed {
        Ok(()) => program.execute(&path),
        Err(error) => error.into(),
    };
    // If this fails too, the next child inherits the descriptors.
    let _ = set_all_close_on_exec();
    error
}
