//! The file that holds the process number of the bus while it runs.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;

use super::StartError;

/// A file that was written by this process; removed when it is dropped.
#[derive(Debug)]
pub(super) struct PidFile {
    /// Absolute, as the process may leave the folder in which it started.
    path: PathBuf,
}

impl PidFile {
    /// Fails if there is a file: another bus runs, or was killed.
    pub(super) fn check_absent(path: &Path) -> Result<(), StartError> {
        match fs::symlink_metadata(path) {
            Ok(_) => Err(StartError::PidFileExists(path.to_owned())),
            // Whatever else is wrong shows when the file is written.
            Err(_) => Ok(()),
        }
    }

    /// Writes the number of this process to a new file at `path`, which is absolute.
    pub(super) fn write(path: PathBuf) -> Result<Self, StartError> {
        let failed =
            |error: io::Error| StartError::PidFile { path: path.clone(), error: error.into() };
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path);
        let mut file = opened.map_err(failed)?;
        file.write_all(format!("{}\n", process::id()).as_bytes()).map_err(failed)?;
        Ok(Self { path })
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A bus that gave up root may have lost the right to do this.
        let _ = fs::remove_file(&self.path);
    }
}
