//! A file and the one before it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use capture::file::Writer;
use capture::record::{Origin, Record, Time};

use super::TapeError;
use super::file::{before, beginning, create, remove_before};
use crate::standing::Standing;

/// A file and the one before it, each of which can be read alone.
#[derive(Debug)]
pub(super) struct Ring {
    writer: Writer<File>,
    path: PathBuf,
    size: u64,
    /// Bytes in files that are full, of which only the last one is still there.
    before: u64,
}

impl Ring {
    pub(super) fn create(path: PathBuf, size: u64, origin: &Origin) -> Result<Self, TapeError> {
        let writer = Writer::new(create(&path)?, origin)?;
        remove_before(&path)?;
        Ok(Self { writer, path, size, before: 0 })
    }

    pub(super) fn write(&mut self, record: &Record<'_>, standing: &Standing) -> io::Result<()> {
        if let Record::Message(raw) = record
            && self.writer.written().messages > 0
            && self.writer.written().bytes + raw.bytes.len() as u64 > self.size
        {
            self.turn(raw.at, standing)?;
        }
        self.writer.write(record)
    }

    /// Goes on in a new file, which gets its name when its beginning is on the disk: until then the
    /// old one goes on, under its own name.
    fn turn(&mut self, at: Time, standing: &Standing) -> io::Result<()> {
        self.writer.flush()?;
        let beginning = beginning(&self.path);
        let next = begin(&beginning, at, standing).inspect_err(|_| {
            // A full disk has no room for half a beginning.
            let _ = fs::remove_file(&beginning);
        })?;
        fs::rename(&self.path, before(&self.path))?;
        fs::rename(&beginning, &self.path)?;
        let full = std::mem::replace(&mut self.writer, next);
        self.before += full.written().bytes;
        full.finish().map(drop)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    pub(super) const fn written(&self) -> u64 {
        self.before + self.writer.written().bytes
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        let before = (self.before > 0).then(|| before(&self.path));
        before.into_iter().chain([self.path.clone()]).collect()
    }

    pub(super) fn finish(self) -> io::Result<u64> {
        let written = self.written();
        self.writer.finish().map(|_| written)
    }
}

/// A file that tells what is so before its first message.
fn begin(path: &Path, at: Time, standing: &Standing) -> io::Result<Writer<File>> {
    let file = create(path).map_err(|error| match error {
        TapeError::Create { error, .. } | TapeError::Write(error) => error,
        TapeError::Full { .. } => io::ErrorKind::StorageFull.into(),
    })?;
    let mut writer = Writer::new(file, standing.origin())?;
    for record in standing.records(at) {
        writer.write(&record)?;
    }
    writer.flush()?;
    Ok(writer)
}
