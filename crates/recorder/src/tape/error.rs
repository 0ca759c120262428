//! Why a recording cannot be written.

use std::path::PathBuf;
use std::{fmt, io};

use super::trigger::FILES_MAX;
use super::{Tally, TapeNotice};

/// Why a recording cannot be written.
#[derive(Debug)]
pub enum TapeError {
    /// The file cannot be made.
    Create {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It cannot be written to.
    Write(io::Error),
    /// At its end there is no room on the disk, so something is missing there.
    Full {
        /// What was recorded.
        tally: Tally,
    },
}

impl From<io::Error> for TapeError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, error } => write!(f, "cannot make {}: {error}", path.display()),
            Self::Write(error) => write!(f, "cannot write the recording: {error}"),
            Self::Full { tally } => write!(
                f,
                "there is no room on the disk: the last {} messages are not in the file",
                tally.losses.messages
            ),
        }
    }
}

impl std::error::Error for TapeError {}

impl fmt::Display for TapeNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("there is no room on the disk: messages are counted only"),
            Self::Room(lost) => {
                write!(f, "there is room on the disk again: {lost} messages are not in the file")
            }
            Self::Triggered(path) => write!(f, "it happened: {} is written", path.display()),
            Self::LastTriggered(path) => write!(
                f,
                "it happened: {} is written, the last of {FILES_MAX} files",
                path.display()
            ),
        }
    }
}
