//! Why `run` ended without an exit status of its command.

use std::io;

use sys::signals::Signal;

use crate::commands::record::RecordError;
use crate::exit::ExitError;
use crate::guest::GuestError;
use crate::private_bus::StartError;

/// Why `run` ended without an exit status of its command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    Bus(#[from] StartError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Record(Box<RecordError>),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for RunError {
    /// A signal that came before there was a command ends this one.
    fn status(&self) -> u8 {
        match self {
            Self::Bus(StartError::Interrupted(Signal::Interrupt)) => 128 + 2,
            Self::Bus(StartError::Interrupted(Signal::HangUp)) => 128 + 1,
            Self::Bus(StartError::Interrupted(_)) => 128 + 15,
            Self::Bus(_) | Self::Record(_) | Self::System(_) => 1,
            Self::Guest(error) => error.status(),
        }
    }
}

impl From<RecordError> for RunError {
    fn from(error: RecordError) -> Self {
        Self::Record(Box::new(error))
    }
}
