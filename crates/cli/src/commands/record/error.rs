//! Why nothing was recorded.

use std::io;

use capture::record::EndCause;
use recorder::{RecordingWriteError, SessionStartError};

use crate::exit::ExitError;
use crate::guest::GuestError;

/// Why the recording was not made, or is not complete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error(
        "a recording is not for a terminal: write it to a file with -o FILE, or into a program with \
         -o - | PROGRAM"
    )]
    Terminal,
    #[error("--ring and --trigger need a file: -o FILE")]
    NotAFile,
    #[error(transparent)]
    Start(#[from] SessionStartError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Write(#[from] RecordingWriteError),
    /// The recording ended before it was asked to.
    #[error("{}", match .0 {
        EndCause::NoBus => "no bus is left to record",
        _ => "the recording has ended",
    })]
    Ended(EndCause),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for RecordError {
    fn status(&self) -> u8 {
        match self {
            Self::Terminal | Self::NotAFile => 2,
            Self::Guest(error) => error.status(),
            Self::Start(_) | Self::Write(_) | Self::Ended(_) | Self::System(_) => 1,
        }
    }
}
