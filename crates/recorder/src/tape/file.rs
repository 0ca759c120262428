//! One file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use capture::file::Writer;
use capture::record::{Origin, Record};

use super::TapeError;

/// One file.
#[derive(Debug)]
pub(super) struct Plain {
    writer: Writer<File>,
    path: Option<PathBuf>,
}

impl Plain {
    pub(super) fn new(file: File, origin: &Origin) -> io::Result<Self> {
        Ok(Self { writer: Writer::new(file, origin)?, path: None })
    }

    pub(super) fn create(path: PathBuf, origin: &Origin) -> Result<Self, TapeError> {
        let writer = Writer::new(create(&path)?, origin)?;
        remove_before(&path)?;
        Ok(Self { writer, path: Some(path) })
    }

    pub(super) fn write(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.writer.write(record)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    pub(super) const fn written(&self) -> u64 {
        self.writer.written().bytes
    }

    pub(super) const fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// Ends it, and says how long it is.
    pub(super) fn finish(self) -> io::Result<u64> {
        let written = self.written();
        self.writer.finish().map(|_| written)
    }
}

/// Makes a file for its owner alone: messages hold what is nobody else's business.
pub(super) fn create(path: &Path) -> Result<File, TapeError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.map_err(|error| TapeError::Create { path: path.to_owned(), error })
}

/// The part of a recording before the one that is in this file.
pub(super) fn before(path: &Path) -> PathBuf {
    with_end(path, ".1")
}

/// The part behind it, while that begins.
pub(super) fn beginning(path: &Path) -> PathBuf {
    with_end(path, ".next")
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Removes the other part of a recording whose place a new one takes, since it would be taken for a
/// part of that. What is no recording is left alone, whatever its name is.
pub(super) fn remove_before(path: &Path) -> Result<(), TapeError> {
    let before = before(path);
    let mut start = [0; SECTION.len()];
    let read = File::open(&before).and_then(|mut file| file.read_exact(&mut start));
    if read.is_err() || start != SECTION {
        return Ok(());
    }
    fs::remove_file(&before).map_err(|error| TapeError::Create { path: before, error })
}

/// The first bytes of a file that a tape has written.
const SECTION: [u8; 4] = 0x0A0D_0D0A_u32.to_le_bytes();
