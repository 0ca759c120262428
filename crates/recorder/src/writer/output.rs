//! The files of a recording, one or several.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use capture::query::Query;
use capture::record::{BusId, RecordingOrigin, RecordingRecord};

use super::disk_state::UnwrittenRecords;
use super::error::{RecordingWriteError, UnfinishedRecording};
use super::file::OutputFile;
use super::notice::RecordingNotice;
use super::recording_file::{RecordFit, RecordingFile};
use super::trigger::{FILES_MAX, Trigger};
use crate::standing::StandingFacts;

/// The destination of a recording.
#[derive(Debug)]
pub enum RecordingDestination {
    /// An open file or pipe.
    Open(File),
    /// A file. An existing file is replaced when the recording is complete.
    File(PathBuf),
    /// A file and the one before it, both limited in size, with the last part of the recording.
    /// Existing recordings with these names are replaced as with [`File`](Self::File).
    Ring {
        /// The path of the file. The name of the one before it ends with `.1`.
        path: PathBuf,
        /// The maximum size of each file in bytes.
        size: u64,
    },
    /// Memory, which is written to a file when a message matches.
    Trigger {
        /// The path of the first file. Later files have a number in their names, and replace no
        /// file.
        path: PathBuf,
        /// The number of bytes that are kept in memory.
        size: u64,
        /// Selects the messages that trigger writing a file.
        query: Query,
    },
}

/// The output of a recording.
#[derive(Debug)]
pub(super) enum RecordingOutput {
    File(RecordingFile),
    Trigger(Box<Trigger>),
}

impl RecordingOutput {
    /// Creates the files of a destination.
    pub(super) fn create(
        destination: RecordingDestination,
        origin: &RecordingOrigin,
    ) -> Result<Self, RecordingWriteError> {
        Ok(match destination {
            RecordingDestination::Open(file) => Self::File(RecordingFile::new(file, origin)?),
            RecordingDestination::File(path) => Self::File(RecordingFile::create(path, origin)?),
            RecordingDestination::Ring { path, size } => {
                Self::File(RecordingFile::create_ring(path, size, origin)?)
            }
            RecordingDestination::Trigger { path, size, query } => {
                Self::Trigger(Box::new(Trigger::new(path, size, query, origin)?))
            }
        })
    }

    /// Passes a record to the trigger before parts of it are removed: the query may test an
    /// argument that is not recorded.
    pub(super) fn look(&mut self, record: &RecordingRecord<'_>) {
        if let Self::Trigger(trigger) = self {
            trigger.look(record);
        }
    }

    /// Writes a record. `max` is the maximum size of a single file in bytes.
    pub(super) fn write(
        &mut self,
        record: &RecordingRecord<'_>,
        max: Option<u64>,
        standing: &StandingFacts,
    ) -> io::Result<RecordFit> {
        match self {
            Self::File(file) => file.write(record, max, standing),
            Self::Trigger(trigger) => trigger.write(record).map(|()| RecordFit::Written),
        }
    }

    pub(super) fn flush(
        &mut self,
        now: Duration,
        standing: &StandingFacts,
    ) -> io::Result<Option<RecordingNotice>> {
        match self {
            Self::File(file) => file.flush().map(|()| None),
            Self::Trigger(trigger) => {
                let written = trigger.flush(now, standing)?;
                let notice = match trigger.files().len() {
                    ..FILES_MAX => RecordingNotice::Triggered,
                    _ => RecordingNotice::LastTriggered,
                };
                Ok(written.map(notice))
            }
        }
    }

    pub(super) fn written(&self) -> u64 {
        match self {
            Self::File(file) => file.written(),
            Self::Trigger(trigger) => trigger.written(),
        }
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::File(file) => file.files(),
            Self::Trigger(trigger) => trigger.files().to_vec(),
        }
    }

    /// The single file, or the latest one of a ring.
    pub(super) fn into_file(self) -> Option<OutputFile> {
        match self {
            Self::File(file) => file.into_output(),
            Self::Trigger(_) => None,
        }
    }

    /// Completes a file on a full disk. The last messages are removed to make room for the number
    /// of missing messages and for the reason why the recording ended.
    pub(super) fn end_on_full_disk(&mut self, full: &mut UnwrittenRecords) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        let Some(writer) = file.own_writer() else { return Ok(()) };
        let taken_back = writer.make_room(END_LEN)?;
        let taken_back = (0..).map(BusId).zip(taken_back).filter(|(_, count)| *count > 0);
        taken_back.for_each(|(bus, count)| *full.lost.entry(bus).or_default() += count);
        for record in full.gaps().chain(full.ends.iter().cloned()) {
            writer.write(&record)?;
        }
        writer.end()
    }

    /// The location of the recording until it is finished.
    pub(super) fn unfinished(&self) -> Option<UnfinishedRecording> {
        let Self::File(file) = self else { return None };
        file.unfinished()
    }

    /// Leaves the incomplete recording where it is.
    pub(super) fn leave(self) -> Option<UnfinishedRecording> {
        self.into_file()?.leave()
    }

    /// Completes the files, and returns their total size in bytes and their paths.
    pub(super) fn finish(self, standing: &StandingFacts) -> io::Result<(u64, Vec<PathBuf>)> {
        match self {
            Self::File(file) => {
                let files = file.files();
                Ok((file.finish()?, files))
            }
            Self::Trigger(trigger) => trigger.finish(standing),
        }
    }
}

/// The number of bytes reserved for the end of a recording: a fact and a statistics block for each
/// of a few buses.
pub(super) const END_LEN: u64 = 1024;
