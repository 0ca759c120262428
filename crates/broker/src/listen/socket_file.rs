//! The file of a Unix socket in a saved state.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sys::filesystem::{FileIdentity, SocketFile};

/// The file of a socket in a saved state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SavedSocketFile {
    #[serde(with = "services::saved_path")]
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SavedSocketFile {
    /// Saves which file it is.
    pub(crate) fn of(file: &SocketFile) -> Self {
        let FileIdentity { device, inode } = file.identity();
        Self { path: file.path().to_owned(), device, inode }
    }

    /// Takes ownership of the file, which an earlier program of this process has created.
    pub(crate) fn adopt(self) -> SocketFile {
        let Self { path, device, inode } = self;
        SocketFile::found_before(path, FileIdentity { device, inode })
    }
}
