//! The path at which a file of a recording is written.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sys::replace::{self, ReplacedFile};

use super::error::{RecordingWriteError, UnfinishedRecording};

/// A file of a recording in progress.
///
/// If there is no file at the target, the recording is written there, so that it can be read while
/// it is in progress. A file at the target stays unchanged until the recording is complete; until
/// then the recording is written next to it, and stays there if the recorder is killed.
#[derive(Debug)]
pub(super) struct OutputFile {
    target: PathBuf,
    location: FileLocation,
}

/// The path at which a recording is written.
#[derive(Debug)]
enum FileLocation {
    /// At the target, where there was no file.
    AtTarget,
    /// At another path in the same directory.
    Temporary(PathBuf),
    /// The target is not a regular file, for example a pipe.
    Direct,
}

impl OutputFile {
    /// Creates a file that only its owner can read, since messages can contain secrets.
    pub(super) fn create(target: PathBuf) -> Result<(File, Self), RecordingWriteError> {
        let created = replace::resolve_links(&target).and_then(|resolved| {
            replace::check_not_held(&resolved)?;
            let (file, location) = create(&resolved)?;
            Ok((file, Self { target: resolved, location }))
        });
        let created =
            created.map_err(|error| RecordingWriteError::Create { path: target, error })?;
        replace::hold(&created.0);
        Ok(created)
    }

    /// The path that was requested.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The path of the file in progress.
    pub(super) fn path(&self) -> &Path {
        match &self.location {
            FileLocation::AtTarget | FileLocation::Direct => &self.target,
            FileLocation::Temporary(path) => path,
        }
    }

    /// Returns true if the target is a regular file, which can be renamed.
    pub(super) const fn is_regular(&self) -> bool {
        !matches!(self.location, FileLocation::Direct)
    }

    /// Renames a complete file, and the part before it, to the target. `file` is an open handle of
    /// it.
    pub(super) fn commit(self, file: &File) -> io::Result<()> {
        let FileLocation::Temporary(path) = &self.location else { return Ok(()) };
        // After a system crash, either the old or the new content must exist.
        file.sync_all()?;
        fs::rename(path, &self.target)?;
        match fs::rename(previous(path), previous(&self.target)) {
            Err(error) if error.kind() == ErrorKind::NotFound => remove_previous(&self.target),
            renamed => renamed,
        }
    }

    /// The location of the recording until it is committed, if that is not the target.
    pub(super) fn unfinished(&self) -> Option<UnfinishedRecording> {
        let target = self.target.clone();
        match &self.location {
            FileLocation::Temporary(path) => {
                Some(UnfinishedRecording { path: path.clone(), target })
            }
            FileLocation::AtTarget | FileLocation::Direct => None,
        }
    }

    /// Leaves an incomplete recording where it is, but removes an empty file.
    pub(super) fn leave(self) -> Option<UnfinishedRecording> {
        if fs::metadata(self.path()).is_ok_and(|found| found.len() == 0) {
            self.remove();
            return None;
        }
        self.unfinished()
    }

    /// Removes the created files. A file that existed at the target is unchanged.
    pub(super) fn remove(self) {
        if self.is_regular() {
            // The recording is empty; the caller reports the error that is the reason.
            let _ = fs::remove_file(self.path());
            let _ = fs::remove_file(previous(self.path()));
        }
    }
}

fn create(target: &Path) -> io::Result<(File, FileLocation)> {
    if !is_recording(&previous(target)) {
        // Fails if a file or link exists.
        let mut options = File::options();
        match options.read(true).write(true).create_new(true).mode(0o600).open(target) {
            Ok(file) => return Ok((file, FileLocation::AtTarget)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let (file, path) = ReplacedFile::create(target)?.into_parts();
    Ok((file, path.map_or(FileLocation::Direct, FileLocation::Temporary)))
}

/// The path of the previous part of the recording at `path`.
pub(super) fn previous(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".1");
    name.into()
}

/// Removes the previous part of a recording that was replaced by a new one, as it would be read as
/// a part of the new one. A file that is not a recording is kept.
pub(super) fn remove_previous(path: &Path) -> io::Result<()> {
    let previous = previous(path);
    if is_recording(&previous) { fs::remove_file(previous) } else { Ok(()) }
}

/// Returns true if a file begins like the files that a recording writer creates.
pub(super) fn is_recording(path: &Path) -> bool {
    let mut start = [0; SECTION.len()];
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut start));
    is_file && read().is_ok() && start == SECTION
}

/// The first bytes of a file that a writer writes.
const SECTION: [u8; 4] = 0x0A0D_0D0A_u32.to_le_bytes();
