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
    /// Fails if there is a file, unless the process that it names has ended without removing it: a
    /// bus that was killed.
    pub(super) fn check_absent(path: &Path) -> Result<(), StartError> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() && names_nobody(path) => {
                // What cannot be removed is in the way when the new one is written.
                let _ = fs::remove_file(path);
                Ok(())
            }
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
        // From here on it goes if it cannot be written: no file without a number is left.
        let written = Self { path: path.clone() };
        file.write_all(format!("{}\n", process::id()).as_bytes()).map_err(failed)?;
        Ok(written)
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A bus that gave up root may have lost the right to do this.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the file holds the number of a process that is not there. One that is ours is not of
/// another: where the machine or its container starts anew, the numbers do too.
fn names_nobody(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Ok(pid) = text.trim_ascii().parse() else { return false };
    pid == process::id() || sys::process::has_ended(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_process_has_left_behind_makes_room() {
        let mut child = process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        child.wait().unwrap();
        let folder = std::env::temp_dir().join(format!("diligence-pid-file-{}", process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("pid");
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
        fs::remove_dir_all(&folder).unwrap();
    }
}
