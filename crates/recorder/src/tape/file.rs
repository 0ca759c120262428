//! One file.

use std::fs::File;
use std::io;
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
