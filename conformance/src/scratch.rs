//! A temporary folder for one test, removed at its end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A new folder in the system's temporary folder, removed on drop, also if the test panics.
///
/// Its mode is 0755: other users must be able to reach a bus in it, so that the bus itself rejects
/// them.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
}

impl ScratchFolder {
    /// Creates the folder.
    ///
    /// # Panics
    ///
    /// If the temporary folder is not writable.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("diligence-conformance-").tempdir();
        let folder = folder.expect("the temporary folder is writable");
        set_mode(folder.path(), 0o755);
        Self { folder }
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of `name` in the folder, whether it exists or not.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder and returns its path.
    ///
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, text).expect("a scratch folder is writable");
        path
    }

    /// Creates a subfolder with these permission bits, and returns its path.
    ///
    /// # Panics
    ///
    /// If it cannot be created.
    pub fn folder(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(&path).expect("a scratch folder is writable");
        set_mode(&path, mode);
        path
    }
}

impl Default for ScratchFolder {
    fn default() -> Self {
        Self::new()
    }
}

/// Sets the permission bits of a file or folder.
///
/// # Panics
///
/// If it belongs to another user.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
}

/// Returns a file of a folder whose name has this extension. A file that is still being written has
/// another one.
#[must_use]
pub fn file_with_extension(folder: &Path, extension: &str) -> Option<PathBuf> {
    let mut files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|found| found == extension))
}
