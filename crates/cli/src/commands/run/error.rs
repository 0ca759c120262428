//! Why `run` ended without an exit status of its command.

use std::ffi::OsString;
use std::{fmt, io};

use sys::signals::Signal;

use crate::private_bus::StartError;

/// Why `run` ended without an exit status of its command.
#[derive(Debug)]
pub(super) enum RunError {
    /// There is no such option.
    UnknownOption(OsString),
    /// There is no bus.
    Bus(StartError),
    /// The command cannot be started.
    Command {
        /// The first word of it.
        program: OsString,
        /// Why.
        error: io::Error,
    },
    /// The system did not let us wait.
    System(io::Error),
}

impl RunError {
    /// The status to exit with; a signal that came before there was a command ends this one.
    pub(super) const fn exit_status(&self) -> u8 {
        match self {
            Self::Bus(StartError::Interrupted(Signal::Interrupt)) => 128 + 2,
            Self::Bus(StartError::Interrupted(Signal::HangUp)) => 128 + 1,
            Self::Bus(StartError::Interrupted(_)) => 128 + 15,
            Self::Bus(_) | Self::System(_) => 1,
            Self::UnknownOption(_) => 2,
            Self::Command { .. } => 127,
        }
    }
}

impl From<StartError> for RunError {
    fn from(error: StartError) -> Self {
        Self::Bus(error)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption(word) => {
                let word = word.display();
                write!(f, "there is no option {word}; a program of that name is ./{word}")
            }
            Self::Bus(error) => error.fmt(f),
            Self::Command { program, error } => {
                write!(f, "cannot run {}: {error}", program.display())
            }
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
