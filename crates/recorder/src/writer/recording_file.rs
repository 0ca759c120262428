//! A file of a recording, or a file and the one before it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use capture::file::PcapngWriter;
use capture::record::{RecordedTime, RecordingOrigin, RecordingRecord};
use sys::replace::{self, ReplacedFile};

use super::error::{RecordingWriteError, UnfinishedRecording};
use super::file::{OutputFile, is_recording, previous};
use crate::standing::StandingFacts;

/// The file that a recording is written to.
#[derive(Debug)]
pub(super) struct RecordingFile {
    writer: PcapngWriter<File>,
    /// `None` if the file was already open.
    output: Option<OutputFile>,
    ring: Option<RingSize>,
}

/// A ring of two files, the current one and the one before it, each of which can be read alone.
#[derive(Debug)]
struct RingSize {
    /// The maximum size of each file in bytes.
    size: u64,
    /// The size of the previous file in bytes.
    previous: u64,
}

/// The result of writing a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecordFit {
    Written,
    /// The record was not written: the file would be too large.
    TooLarge,
}

impl RecordingFile {
    pub(super) fn new(file: File, origin: &RecordingOrigin) -> io::Result<Self> {
        Ok(Self { writer: PcapngWriter::new(file, origin)?, output: None, ring: None })
    }

    pub(super) fn create(
        target: PathBuf,
        origin: &RecordingOrigin,
    ) -> Result<Self, RecordingWriteError> {
        let (file, output) = OutputFile::create(target)?;
        Ok(Self { output: Some(output), ..Self::new(file, origin)? })
    }

    pub(super) fn create_ring(
        target: PathBuf,
        size: u64,
        origin: &RecordingOrigin,
    ) -> Result<Self, RecordingWriteError> {
        let resolved = replace::resolve_links(&target);
        let target = resolved
            .map_err(|error| RecordingWriteError::Create { path: target.clone(), error })?;
        let before = previous(&target);
        if fs::symlink_metadata(&before).is_ok() && !is_recording(&before) {
            return Err(RecordingWriteError::Occupied { path: before });
        }
        let (file, output) = OutputFile::create(target)?;
        if !output.is_regular() {
            return Err(RecordingWriteError::NotAFile { path: output.target().to_owned() });
        }
        let ring = Some(RingSize { size, previous: 0 });
        Ok(Self { output: Some(output), ring, ..Self::new(file, origin)? })
    }

    /// Writes a record, unless a single file would exceed `max` bytes.
    pub(super) fn write(
        &mut self,
        record: &RecordingRecord<'_>,
        max: Option<u64>,
        standing: &StandingFacts,
    ) -> io::Result<RecordFit> {
        if let Some(ring) = &self.ring {
            let written = self.writer.written();
            if let RecordingRecord::Message(raw) = record
                && written.messages > 0
                && written.bytes + raw.bytes.len() as u64 > ring.size
            {
                self.turn(raw.at, standing)?;
            }
        } else if let Some(max) = max {
            let fits = self.writer.write_within(record, max)?;
            return Ok(if fits { RecordFit::Written } else { RecordFit::TooLarge });
        }
        self.writer.write(record)?;
        Ok(RecordFit::Written)
    }

    /// Continues in a new file. The file gets its name when its beginning is on the disk; until
    /// then the old one keeps the name.
    fn turn(&mut self, at: RecordedTime, standing: &StandingFacts) -> io::Result<()> {
        self.writer.flush()?;
        let (Some(output), Some(ring)) = (&self.output, &mut self.ring) else { return Ok(()) };
        let path = output.path();
        let (next, beginning) = begin(path, at, standing)?;
        fs::rename(path, previous(path))?;
        fs::rename(&beginning, path)?;
        let full = std::mem::replace(&mut self.writer, next);
        ring.previous = full.written().bytes;
        full.finish().map(drop)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// The total size of the existing files in bytes.
    pub(super) fn written(&self) -> u64 {
        self.ring.as_ref().map_or(0, |ring| ring.previous) + self.writer.written().bytes
    }

    /// The existing files, the older one first.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let Some(output) = &self.output else { return Vec::new() };
        let has_previous = self.ring.as_ref().is_some_and(|ring| ring.previous > 0);
        let before = has_previous.then(|| previous(output.target()));
        before.into_iter().chain([output.target().to_owned()]).collect()
    }

    /// The writer, if no other process writes to the file.
    pub(super) fn own_writer(&mut self) -> Option<&mut PcapngWriter<File>> {
        self.output.as_ref().is_some_and(OutputFile::is_regular).then_some(&mut self.writer)
    }

    /// The location of the recording until it is finished, if that is not the target.
    pub(super) fn unfinished(&self) -> Option<UnfinishedRecording> {
        self.output.as_ref()?.unfinished()
    }

    pub(super) fn into_output(self) -> Option<OutputFile> {
        self.output
    }

    /// Completes the file and returns the total size in bytes.
    pub(super) fn finish(self) -> io::Result<u64> {
        let written = self.written();
        let file = self.writer.finish()?;
        if let Some(output) = self.output {
            output.commit(&file)?;
        }
        Ok(written)
    }
}

/// Creates the file that follows the one at `path`, with all facts known before its first message.
/// Also returns its path.
fn begin(
    path: &Path,
    at: RecordedTime,
    standing: &StandingFacts,
) -> io::Result<(PcapngWriter<File>, PathBuf)> {
    let (file, beginning) = ReplacedFile::create(path)?.into_parts();
    replace::hold(&file);
    let beginning = beginning.ok_or_else(|| io::Error::other("it is no longer a regular file"))?;
    let fill = || {
        let mut writer = PcapngWriter::new(file, standing.origin())?;
        standing.records(at).try_for_each(|record| writer.write(&record))?;
        writer.flush()?;
        Ok(writer)
    };
    match fill() {
        Ok(writer) => Ok((writer, beginning)),
        Err(error) => {
            // A partial beginning is useless, and takes space on a full disk.
            let _ = fs::remove_file(beginning);
            Err(error)
        }
    }
}
