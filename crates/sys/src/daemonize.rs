//! The steps of becoming a daemon. The caller decides which steps are taken, in which order, and
//! when the parent exits.

use crate::raw;
use rustix::fs::Mode;
use std::fs::{File, OpenOptions};
use std::io;

/// The two processes after [`fork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum ForkSide {
    /// The process that called fork.
    Parent {
        /// The process id of the child.
        child: u32,
    },
    /// The new child process.
    Child,
}

/// Duplicates the process (fork(2)). Both processes share the open files. Unwritten buffers would
/// be written twice, so flush them before.
///
/// # Panics
///
/// Panics if the process has more than one thread: the other threads would not exist in the child,
/// but the locks that they hold would.
///
/// # Errors
///
/// Fails with the errors of fork(2), or if `/proc` cannot be read.
pub fn fork() -> io::Result<ForkSide> {
    Ok(match raw::fork()? {
        Some(child) => ForkSide::Parent { child },
        None => ForkSide::Child,
    })
}

/// Detaches from the terminal: this process becomes the leader of a new session (setsid(2)).
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] if it leads a process group already; the child of a [`fork`]
/// does not.
pub fn start_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Sets the permissions that new files are denied, such as `0o022` (umask(2)).
pub fn set_file_mode_mask(mask: u32) {
    rustix::process::umask(Mode::from_raw_mode(mask));
}

/// One of the descriptors that every process starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard input, descriptor 0.
    Input,
    /// Standard output, descriptor 1.
    Output,
    /// Standard error, descriptor 2.
    Error,
}

/// Replaces a standard stream by `/dev/null`, so that a process that waits for the end of the
/// stream sees it.
///
/// # Errors
///
/// Fails if `/dev/null` cannot be opened.
pub fn silence(stream: StandardStream) -> io::Result<()> {
    match stream {
        StandardStream::Input => rustix::stdio::dup2_stdin(File::open(NULL)?)?,
        StandardStream::Output => rustix::stdio::dup2_stdout(null_sink()?)?,
        StandardStream::Error => rustix::stdio::dup2_stderr(null_sink()?)?,
    }
    Ok(())
}

/// Sets every descriptor except the standard streams close-on-exec, so that children inherit none
/// of the descriptors that this process inherited. [Take](crate::inherited::take) the descriptors
/// to keep before, because afterwards they cannot be distinguished from descriptors opened by this
/// process.
///
/// # Errors
///
/// Fails with `EINVAL` or `ENOSYS` before Linux 5.11.
pub fn set_all_close_on_exec() -> io::Result<()> {
    raw::set_close_on_exec_from(FIRST_NOT_STANDARD)
}

fn null_sink() -> io::Result<File> {
    OpenOptions::new().write(true).open(NULL)
}

const NULL: &str = "/dev/null";

const FIRST_NOT_STANDARD: u32 = 3;
