//! Errors of writing a recording.

use std::path::PathBuf;
use std::{fmt, io};

use super::tally::RecordingTally;

/// The reasons why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingWriteError {
    /// Creating the file failed.
    #[error("cannot create {}: {error}", path.display())]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A ring of files renames its file, so it needs a regular one.
    #[error("--ring needs a regular file, and {} is not one", path.display())]
    NotAFile {
        /// The path that is not a regular file.
        path: PathBuf,
    },
    /// A file that is not a recording has the name of the previous part of a ring.
    #[error("--ring would replace {}, which is not a recording: choose another name", path.display())]
    Occupied {
        /// The path of the file.
        path: PathBuf,
    },
    /// Writing to the file failed.
    #[error("cannot write the recording: {error}{}", display(unfinished))]
    Write {
        /// The error of the system.
        error: io::Error,
        /// The location of the part that was written.
        unfinished: Option<UnfinishedRecording>,
    },
    /// The disk is full when the recording ends, so its last messages are not in the file.
    #[error(
        "the disk is full: the last {} not in the file{}",
        match tally.losses.messages {
            1 => "message is".to_owned(),
            count => format!("{count} messages are"),
        },
        display(unfinished)
    )]
    Full {
        /// The amounts that were recorded.
        tally: RecordingTally,
        /// The location of the part that was written.
        unfinished: Option<UnfinishedRecording>,
    },
}

/// An incomplete recording, which therefore did not replace an older file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnfinishedRecording {
    /// The path of the incomplete recording.
    pub path: PathBuf,
    /// The path of the older file, which is unchanged.
    pub target: PathBuf,
}

impl From<io::Error> for RecordingWriteError {
    fn from(error: io::Error) -> Self {
        Self::Write { error, unfinished: None }
    }
}

/// The text about the part that was written, if there is one.
fn display(unfinished: &Option<UnfinishedRecording>) -> String {
    unfinished.as_ref().map(UnfinishedRecording::to_string).unwrap_or_default()
}

impl fmt::Display for UnfinishedRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, target } = self;
        write!(f, "; {} is unchanged, the new recording is {}", target.display(), path.display())
    }
}
