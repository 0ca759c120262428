//! Saves memory when the process crashes. A signal handler makes the copy in the process itself.

use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::raw;

/// Arranges that, if this process ends by `SIGABRT`, `SIGSEGV` or another signal for its own fault,
/// the contents of both memories are copied to the new file `path`, one after the other. Only its
/// user can read the file. A panic counts too, if it aborts the process.
///
/// A later call replaces this one. The memories stay open until the next call, or until [`forget`].
///
/// # Errors
///
/// Fails with the errors of sigaction(2) and of fcntl(2) with `F_DUPFD_CLOEXEC`;
/// [`io::ErrorKind::InvalidInput`] if the path contains a zero byte.
pub fn save(memories: [BorrowedFd<'_>; 2], path: &Path) -> io::Result<()> {
    raw::crash::save(memories, CString::new(path.as_os_str().as_bytes())?)
}

/// Stops saving memory on a crash.
pub fn forget() {
    raw::crash::forget();
}
