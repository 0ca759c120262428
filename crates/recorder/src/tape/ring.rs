//! A file and the one before it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use capture::file::Writer;
use capture::record::{Origin, Record, Time};
use sys::replace::{self, ReplacedFile};

use super::error::TapeError;
use super::file::{OutputFile, is_recording, previous};
use crate::standing::Standing;

/// A file and the one before it, each of which can be read alone.
#[derive(Debug)]
pub(super) struct Ring {
    writer: Writer<File>,
    output: OutputFile,
    size: u64,
    /// Bytes in the file before this one.
    previous: u64,
}

impl Ring {
    pub(super) fn create(target: PathBuf, size: u64, origin: &Origin) -> Result<Self, TapeError> {
        let resolved = replace::resolve_links(&target);
        let target = resolved.map_err(|error| TapeError::Create { path: target.clone(), error })?;
        let before = previous(&target);
        if fs::symlink_metadata(&before).is_ok() && !is_recording(&before) {
            return Err(TapeError::Occupied { path: before });
        }
        let (file, output) = OutputFile::create(target)?;
        if !output.is_regular() {
            return Err(TapeError::NotAFile { path: output.target().to_owned() });
        }
        Ok(Self { writer: Writer::new(file, origin)?, output, size, previous: 0 })
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
        let path = self.output.path();
        let (next, beginning) = begin(path, at, standing)?;
        fs::rename(path, previous(path))?;
        fs::rename(&beginning, path)?;
        let full = std::mem::replace(&mut self.writer, next);
        self.previous = full.written().bytes;
        full.finish().map(drop)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Bytes in the files that there are.
    pub(super) const fn written(&self) -> u64 {
        self.previous + self.writer.written().bytes
    }

    pub(super) const fn output(&self) -> &OutputFile {
        &self.output
    }

    pub(super) const fn writer(&mut self) -> &mut Writer<File> {
        &mut self.writer
    }

    pub(super) fn into_output(self) -> OutputFile {
        self.output
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        let target = self.output.target();
        let before = (self.previous > 0).then(|| previous(target));
        before.into_iter().chain([target.to_owned()]).collect()
    }

    pub(super) fn finish(self) -> io::Result<u64> {
        let written = self.written();
        let file = self.writer.finish()?;
        self.output.commit(&file)?;
        Ok(written)
    }
}

/// Creates the file that will follow the one at `path`, with everything that is known before its first
/// message. Returns its path, too.
fn begin(path: &Path, at: Time, standing: &Standing) -> io::Result<(Writer<File>, PathBuf)> {
    let (file, beginning) = ReplacedFile::create(path)?.into_parts();
    replace::hold(&file);
    let beginning =
        beginning.ok_or_else(|| io::Error::other("it is not a regular file any more"))?;
    let fill = || {
        let mut writer = Writer::new(file, standing.origin())?;
        standing.records(at).try_for_each(|record| writer.write(&record))?;
        writer.flush()?;
        Ok(writer)
    };
    match fill() {
        Ok(writer) => Ok((writer, beginning)),
        Err(error) => {
            // A full disk has no room for half a beginning.
            let _ = fs::remove_file(beginning);
            Err(error)
        }
    }
}
