//! The file of a Unix socket, removed together with the socket.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file of a socket in a saved state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SavedSocketFile {
    #[serde(with = "services::saved_path")]
    path: PathBuf,
    identity: FileIdentity,
}

/// Removes the file of a socket on drop, unless another program has replaced it.
///
/// After a fork, only one of the two processes may drop it: the other leaves with
/// [`exit`](std::process::exit), which runs no destructors.
#[derive(Debug)]
pub(crate) struct SocketFile {
    /// Absolute, because the process may change its working directory.
    path: PathBuf,
    identity: FileIdentity,
}

impl SocketFile {
    /// The absolute path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Saves which file it is.
    pub(crate) fn save(&self) -> SavedSocketFile {
        SavedSocketFile { path: self.path.clone(), identity: self.identity }
    }

    /// Takes ownership of a file that an earlier program of this process has created.
    pub(crate) fn adopt(SavedSocketFile { path, identity }: SavedSocketFile) -> Self {
        Self { path, identity }
    }

    /// Takes ownership of the file at `path`.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let identity = FileIdentity::of(path)?;
        Ok(Self { path: std::path::absolute(path)?, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if FileIdentity::of(&self.path).is_ok_and(|found| found == self.identity) {
            // If this fails, the next bus at this path replaces the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
