//! Why a recording cannot be written.

use std::path::PathBuf;
use std::{fmt, io};

use capture::text::units::counted;

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
    /// A ring of files needs a regular file, which can be renamed.
    NotAFile {
        /// The path of something else.
        path: PathBuf,
    },
    /// A file that is not a recording has the name of the previous part of a ring.
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written to.
    Write {
        /// Why.
        error: io::Error,
        /// Where the part is that was written.
        unfinished: Option<Unfinished>,
    },
    /// When the recording ends, the disk is full, so its last messages are not in the file.
    Full {
        /// What was recorded.
        tally: Tally,
        /// Where the part is that was written.
        unfinished: Option<Unfinished>,
    },
}

/// A recording that is not complete, so that it did not take the place of an older file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// Where the recording is.
    pub path: PathBuf,
    /// The file whose place it would have taken, which is unchanged.
    pub target: PathBuf,
}

impl From<io::Error> for TapeError {
    fn from(error: io::Error) -> Self {
        Self::Write { error, unfinished: None }
    }
}

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, error } => {
                write!(f, "cannot create {}: {error}", path.display())
            }
            Self::NotAFile { path } => {
                write!(f, "--ring needs a regular file, and {} is not one", path.display())
            }
            Self::Occupied { path } => write!(
                f,
                "--ring would replace {}, which is not a recording: choose another name",
                path.display()
            ),
            Self::Write { error, unfinished } => {
                write!(f, "cannot write the recording: {error}")?;
                unfinished.as_ref().map_or(Ok(()), |unfinished| unfinished.fmt(f))
            }
            Self::Full { tally, unfinished } => {
                f.write_str("there is no room on the disk: the last ")?;
                match tally.losses.messages {
                    1 => f.write_str("message is not in the file")?,
                    count => write!(f, "{count} messages are not in the file")?,
                }
                unfinished.as_ref().map_or(Ok(()), |unfinished| unfinished.fmt(f))
            }
        }
    }
}

/// The end of a sentence about what went wrong.
impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, target } = self;
        write!(f, "; {} is unchanged, the new recording is {}", target.display(), path.display())
    }
}

impl std::error::Error for TapeError {}

impl fmt::Display for TapeNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("there is no room on the disk: messages are counted only"),
            Self::Room(lost) => {
                let lost = counted(*lost, "message is", "messages are");
                write!(f, "there is room on the disk again: {lost} not in the file")
            }
            Self::Triggered(path) => write!(f, "trigger matched: wrote {}", path.display()),
            Self::LastTriggered(path) => write!(
                f,
                "trigger matched: wrote {}, the last of {FILES_MAX} files",
                path.display()
            ),
        }
    }
}
