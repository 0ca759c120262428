//! The files of simulated sockets. Only the machine knows them; other files are real.

use std::io;
use std::path::{Path, PathBuf};

pub use real::filesystem::{
    DirectoryAccess, FileIdentity, FileOwner, LockFile, Privacy, StaleSocket,
    ensure_private_directory, give_socket, is_read_end, is_removable, path_of_descriptor,
};

use crate::machine;

/// Removes the file of a socket.
///
/// # Errors
///
/// Never fails.
pub fn remove_stale_socket(path: &Path) -> io::Result<StaleSocket> {
    let was_there = machine::with(|machine| machine.remove_file(&path.to_string_lossy()));
    Ok(if was_there { StaleSocket::Removed } else { StaleSocket::Absent })
}

/// The file of a Unix socket. It is removed on drop.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: FileIdentity,
}

impl SocketFile {
    /// Takes ownership of the file at `path`.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::found_before(path.to_owned(), FileIdentity { device: 0, inode: 0 }))
    }

    /// Takes ownership of a file that was at this path before.
    #[must_use]
    pub fn found_before(path: PathBuf, identity: FileIdentity) -> Self {
        Self { path, identity }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The identity of the file.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        machine::with(|machine| machine.drop_file(&self.path.to_string_lossy()));
    }
}

/// Does nothing: every simulated peer may connect to every socket.
///
/// # Errors
///
/// Never fails.
pub fn allow_everyone(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: simulated files need no directories.
///
/// # Errors
///
/// Never fails.
pub fn ensure_directory(_: &Path, _: DirectoryAccess) -> io::Result<()> {
    Ok(())
}
