//! The name under which a file of a recording grows.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sys::replace::{self, ReplacedFile};

use super::error::{TapeError, UnfinishedRecording};

/// A file of a recording that is being written.
///
/// If there is no file at the target, the recording grows under its own name, so that it can be read
/// while it lasts. A file at the target stays unchanged until the recording is complete; until then the
/// recording grows beside it, and that file is left there if the recorder is killed.
#[derive(Debug)]
pub(super) struct OutputFile {
    target: PathBuf,
    growth: FileGrowth,
}

/// Under which name a recording grows.
#[derive(Debug)]
enum FileGrowth {
    /// Its own; there was no file.
    AtTarget,
    /// Another one in the same directory.
    Beside(PathBuf),
    /// The target is not a regular file, for example a pipe.
    Direct,
}

impl OutputFile {
    /// Creates a file that only its owner can read, since messages can hold secrets.
    pub(super) fn create(target: PathBuf) -> Result<(File, Self), TapeError> {
        let created = replace::resolve_links(&target).and_then(|resolved| {
            replace::check_not_held(&resolved)?;
            let (file, growth) = create(&resolved)?;
            Ok((file, Self { target: resolved, growth }))
        });
        let created = created.map_err(|error| TapeError::Create { path: target, error })?;
        replace::hold(&created.0);
        Ok(created)
    }

    /// The file that was asked for.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The file that grows.
    pub(super) fn path(&self) -> &Path {
        match &self.growth {
            FileGrowth::AtTarget | FileGrowth::Direct => &self.target,
            FileGrowth::Beside(path) => path,
        }
    }

    /// Whether the target is a regular file, which can be renamed.
    pub(super) const fn is_regular(&self) -> bool {
        !matches!(self.growth, FileGrowth::Direct)
    }

    /// Gives a complete file and the part before it their names. `file` is an open handle of it.
    pub(super) fn commit(self, file: &File) -> io::Result<()> {
        let FileGrowth::Beside(path) = &self.growth else { return Ok(()) };
        // A crash of the system must not leave neither the old content nor the new one.
        file.sync_all()?;
        fs::rename(path, &self.target)?;
        match fs::rename(previous(path), previous(&self.target)) {
            Err(error) if error.kind() == ErrorKind::NotFound => remove_previous(&self.target),
            renamed => renamed,
        }
    }

    /// Where the recording is until it is committed, if that is not the target.
    pub(super) fn unfinished(&self) -> Option<UnfinishedRecording> {
        let target = self.target.clone();
        match &self.growth {
            FileGrowth::Beside(path) => Some(UnfinishedRecording { path: path.clone(), target }),
            FileGrowth::AtTarget | FileGrowth::Direct => None,
        }
    }

    /// Leaves an incomplete recording where it is; an empty file is removed.
    pub(super) fn leave(self) -> Option<UnfinishedRecording> {
        if fs::metadata(self.path()).is_ok_and(|found| found.len() == 0) {
            self.remove();
            return None;
        }
        self.unfinished()
    }

    /// Removes what was created; a file that was at the target before is still there.
    pub(super) fn remove(self) {
        if self.is_regular() {
            // Nothing was recorded, and the reason for that is the error to report.
            let _ = fs::remove_file(self.path());
            let _ = fs::remove_file(previous(self.path()));
        }
    }
}

fn create(target: &Path) -> io::Result<(File, FileGrowth)> {
    if !is_recording(&previous(target)) {
        // Neither a file nor a link is there, or the call fails.
        let mut options = File::options();
        match options.read(true).write(true).create_new(true).mode(0o600).open(target) {
            Ok(file) => return Ok((file, FileGrowth::AtTarget)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let (file, path) = ReplacedFile::create(target)?.into_parts();
    Ok((file, path.map_or(FileGrowth::Direct, FileGrowth::Beside)))
}

/// The part of a recording before the one in this file.
pub(super) fn previous(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".1");
    name.into()
}

/// Removes the previous part of a recording that was replaced by a new one: it would be read as a part
/// of the new one. A file that is not a recording stays, whatever its name is.
pub(super) fn remove_previous(path: &Path) -> io::Result<()> {
    let previous = previous(path);
    if is_recording(&previous) { fs::remove_file(previous) } else { Ok(()) }
}

/// Whether a file begins like those that a tape writes.
pub(super) fn is_recording(path: &Path) -> bool {
    let mut start = [0; SECTION.len()];
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut start));
    is_file && read().is_ok() && start == SECTION
}

/// The first bytes of a file that a tape has written.
const SECTION: [u8; 4] = 0x0A0D_0D0A_u32.to_le_bytes();
