//! Why nothing was recorded.

use std::{fmt, io};

use capture::record::EndCause;
use recorder::{StartError, TapeError};

use crate::guest::GuestError;

/// Why nothing was recorded, or not all of it.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// It was to go to a terminal.
    Terminal,
    /// Standard output, which is no file that could be renamed or begun anew.
    NotAFile,
    /// It did not begin.
    Start(StartError),
    /// The command did not start.
    Guest(GuestError),
    /// It could not be written.
    Tape(TapeError),
    /// It has ended before it should.
    Ended(EndCause),
    /// The system did not let us wait.
    System(io::Error),
}

impl RecordError {
    /// The status to exit with.
    pub(crate) const fn exit_status(&self) -> u8 {
        match self {
            Self::Terminal | Self::NotAFile => 2,
            Self::Guest(error) => error.exit_status(),
            Self::Start(_) | Self::Tape(_) | Self::Ended(_) | Self::System(_) => 1,
        }
    }
}

impl From<StartError> for RecordError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<GuestError> for RecordError {
    fn from(error: GuestError) -> Self {
        Self::Guest(error)
    }
}

impl From<TapeError> for RecordError {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal => f.write_str(
                "a recording is not for a terminal: write it to a file with -o FILE, \
                 or into a program with -o - | PROGRAM",
            ),
            Self::NotAFile => f.write_str("--ring and --trigger need a file: -o FILE"),
            Self::Start(error) => error.fmt(f),
            Self::Guest(error) => error.fmt(f),
            Self::Tape(error) => error.fmt(f),
            Self::Ended(EndCause::NoBus) => f.write_str("no bus is left to record"),
            Self::Ended(_) => f.write_str("the recording has ended"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}
