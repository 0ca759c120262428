//! Saving memory when the process crashes: a copy is made by a signal handler, in the process itself.

use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::raw;

/// From now on, if this process ends by `SIGABRT`, `SIGSEGV` or another signal for a fault of its own,
/// the contents of both memories are copied to the new file `path`, one behind the other. Only its
/// user can read it. A panic counts too, if it aborts the process.
///
/// The last call counts. The memories stay open until the next call, or until [`forget`].
///
/// # Errors
///
/// As sigaction(2) and fcntl(2) with `F_DUPFD_CLOEXEC`; [`io::ErrorKind::InvalidInput`] for a path with a zero byte.
pub fn save(memories: [BorrowedFd<'_>; 2], path: &Path) -> io::Result<()> {
    raw::crash::save(memories, CString::new(path.as_os_str().as_bytes())?)
}

/// Nothing is saved any more.
pub fn forget() {
    raw::crash::forget();
}
