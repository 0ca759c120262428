//! The steps by which a process becomes a daemon. Which of them are taken, in which order and when
//! the parent may leave, the caller decides.

use crate::raw;
use rustix::fs::Mode;
use std::fs::{File, OpenOptions};
use std::io;

/// Which of the two processes one is in after [`fork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum ForkSide {
    /// The one that called, with the number of the new one.
    Parent {
        /// The process number of the child.
        child: u32,
    },
    /// The new one.
    Child,
}

/// Doubles the process (fork(2)). Both own the same open files; what was buffered but not yet
/// written would be written twice, so flush before.
///
/// # Panics
///
/// When the process has more than one thread: the others would not exist in the child, but the
/// locks that they held would.
///
/// # Errors
///
/// Those of fork(2), or that `/proc` cannot be read.
pub fn fork() -> io::Result<ForkSide> {
    Ok(match raw::fork()? {
        Some(child) => ForkSide::Parent { child },
        None => ForkSide::Child,
    })
}

/// Leaves the terminal: this process becomes the leader of a new session (setsid(2)).
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] when it leads a process group already; the child of a
/// [`fork`] does not.
pub fn start_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Sets which permissions files made from now on are denied, such as `0o022` (umask(2)).
pub fn set_file_mode_mask(mask: u32) {
    rustix::process::umask(Mode::from_raw_mode(mask));
}

/// One of the descriptors that every process starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Descriptor 0.
    Input,
    /// Descriptor 1.
    Output,
    /// Descriptor 2.
    Error,
}

/// Replaces a standard stream by `/dev/null`, so that whoever waits for its end gets it.
///
/// # Errors
///
/// When `/dev/null` cannot be opened.
pub fn silence(stream: StandardStream) -> io::Result<()> {
    match stream {
        StandardStream::Input => rustix::stdio::dup2_stdin(File::open(NULL)?)?,
        StandardStream::Output => rustix::stdio::dup2_stdout(null_sink()?)?,
        StandardStream::Error => rustix::stdio::dup2_stderr(null_sink()?)?,
    }
    Ok(())
}

/// Sets every descriptor but the standard streams close-on-exec, so that none of those that this
/// process inherited reaches its children. Descriptors to keep must be
/// [taken](crate::inherited::take) before, as they can no longer be told from our own after.
///
/// # Errors
///
/// `EINVAL` or `ENOSYS` before Linux 5.11.
pub fn set_all_close_on_exec() -> io::Result<()> {
    raw::set_close_on_exec_from(FIRST_NOT_STANDARD)
}

fn null_sink() -> io::Result<File> {
    OpenOptions::new().write(true).open(NULL)
}

const NULL: &str = "/dev/null";

const FIRST_NOT_STANDARD: u32 = 3;
