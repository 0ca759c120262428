//! Errors of `diligence record`.

use std::io;

use capture::record::EndCause;
use recorder::{RecordingWriteError, SessionStartError};

use crate::exit::ExitError;
use crate::user_command::UserCommandError;

/// The recording could not be made, or it is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error(
        "cannot write a recording to a terminal: write it to a file with -o FILE, or to a program with \
         -o - | PROGRAM"
    )]
    Terminal,
    #[error("--ring and --trigger need a file: -o FILE")]
    NotAFile,
    #[error(transparent)]
    Start(#[from] SessionStartError),
    #[error(transparent)]
    UserCommand(#[from] UserCommandError),
    #[error(transparent)]
    Write(#[from] RecordingWriteError),
    /// The recording ended before the user ended it.
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
            Self::UserCommand(error) => error.status(),
            Self::Start(_) | Self::Write(_) | Self::Ended(_) | Self::System(_) => 1,
        }
    }
}
