//! The file that holds the process id of the bus while it runs.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;

use super::StartError;

/// A pid file that this process wrote; it is removed on drop.
#[derive(Debug)]
pub(super) struct PidFile {
    /// Absolute, because the process may change its working directory.
    path: PathBuf,
}

impl PidFile {
    /// Fails if the file exists, unless the process that it names no longer runs, as after a bus
    /// was killed.
    pub(super) fn check_absent(path: &Path) -> Result<(), StartError> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() && is_stale(path) => {
                // If this fails, writing the new file fails with a better error.
                let _ = fs::remove_file(path);
                Ok(())
            }
            Ok(_) => Err(StartError::PidFileExists(path.to_owned())),
            // Any other problem is reported when the file is written.
            Err(_) => Ok(()),
        }
    }

    /// Replaces the file that an earlier process of this bus has written, even if another process
    /// has its process id now.
    pub(super) fn renew(path: PathBuf) -> Result<Self, StartError> {
        // If this fails, writing the new file fails with a better error.
        let _ = fs::remove_file(&path);
        Self::write(path)
    }

    /// Takes the ownership of a file that an earlier program of this process has written.
    pub(super) const fn adopt(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes the process id of this process to a new file at `path`, which is absolute.
    pub(super) fn write(path: PathBuf) -> Result<Self, StartError> {
        let failed =
            |error: io::Error| StartError::PidFile { path: path.clone(), error: error.into() };
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path);
        let mut file = opened.map_err(failed)?;
        // From here on the file is removed if it cannot be written, so that no empty file remains.
        let written = Self { path: path.clone() };
        file.write_all(format!("{}\n", process::id()).as_bytes()).map_err(failed)?;
        Ok(written)
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A bus that gave up root may lack the permission to remove it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the file holds the id of a process that does not exist. This process's own id also
/// counts as stale: after a reboot, or in a new container, process ids repeat.
fn is_stale(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Ok(pid) = text.trim_ascii().parse() else { return false };
    pid == process::id() || sys::process::has_ended(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stale_pid_files_are_replaced() {
        let mut child = process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        child.wait().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        for (text, makes_room) in [
            (format!("{ended}\n"), true),
            (format!("{}\n", process::id()), true),
            ("1\n".to_owned(), false),
            (String::new(), false),
            ("0\n".to_owned(), false),
            ("bees\n".to_owned(), false),
            (format!("{ended} bees\n"), false),
        ] {
            fs::write(&path, &text).unwrap();
            assert_eq!(PidFile::check_absent(&path).is_ok(), makes_room, "{text:?}");
            assert_eq!(path.exists(), !makes_room, "{text:?}");
        }
    }
}
