//! The file of a socket, which goes when the socket does.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Removes the file of a socket when it is dropped, unless somebody has put another in its place.
///
/// Of two processes after a fork, only one may drop it: the other leaves by
/// [`exit`](std::process::exit), which drops nothing.
#[derive(Debug)]
pub(crate) struct SocketFile {
    /// Absolute, as the process may leave the folder in which it started.
    path: PathBuf,
    identity: FileIdentity,
}

impl SocketFile {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes charge of the file at `path`.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let identity = FileIdentity::of(path)?;
        Ok(Self { path: std::path::absolute(path)?, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if FileIdentity::of(&self.path).is_ok_and(|found| found == self.identity) {
            // What cannot be removed is replaced by the next bus at this place.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}
