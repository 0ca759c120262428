//! Why `run` ended without an exit status of its command.

use std::{fmt, io};

use sys::signals::Signal;

use crate::commands::record::RecordError;
use crate::guest::GuestError;
use crate::private_bus::StartError;

/// Why `run` ended without an exit status of its command.
#[derive(Debug)]
pub(super) enum RunError {
    /// There is no bus.
    Bus(StartError),
    /// The command cannot be started.
    Guest(GuestError),
    /// The bus cannot be recorded.
    Record(Box<RecordError>),
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
            Self::Bus(_) | Self::Record(_) | Self::System(_) => 1,
            Self::Guest(error) => error.exit_status(),
        }
    }
}

impl From<StartError> for RunError {
    fn from(error: StartError) -> Self {
        Self::Bus(error)
    }
}

impl From<GuestError> for RunError {
    fn from(error: GuestError) -> Self {
        Self::Guest(error)
    }
}

impl From<RecordError> for RunError {
    fn from(error: RecordError) -> Self {
        Self::Record(Box::new(error))
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
            Self::Bus(error) => error.fmt(f),
            Self::Guest(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
