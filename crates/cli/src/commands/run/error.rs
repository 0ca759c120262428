//! Why `run` ended without an exit status of its command.

use std::io;

use sys::signals::Signal;

use crate::commands::record::RecordError;
use crate::guest::GuestError;
use crate::private_bus::StartError;

/// Why `run` ended without an exit status of its command.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error(transparent)]
    Bus(#[from] StartError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Record(Box<RecordError>),
    #[error(transparent)]
    System(#[from] io::Error),
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

impl From<RecordError> for RunError {
    fn from(error: RecordError) -> Self {
        Self::Record(Box::new(error))
    }
}
