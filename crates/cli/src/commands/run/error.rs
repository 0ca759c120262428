//! Why `run` ended without an exit status of its command.

use std::io;

use sys::signals::ProcessSignal;

use crate::commands::record::RecordError;
use crate::exit::ExitError;
use crate::guest::GuestError;
use crate::private_bus::PrivateBusError;

/// Why `run` ended without an exit status of its command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunCommandError {
    #[error(transparent)]
    Bus(#[from] PrivateBusError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Record(Box<RecordError>),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for RunCommandError {
    /// A signal that came before there was a command ends this one.
    fn status(&self) -> u8 {
        match self {
            Self::Bus(PrivateBusError::Interrupted(ProcessSignal::Interrupt)) => 128 + 2,
            Self::Bus(PrivateBusError::Interrupted(ProcessSignal::HangUp)) => 128 + 1,
            Self::Bus(PrivateBusError::Interrupted(_)) => 128 + 15,
            Self::Bus(_) | Self::Record(_) | Self::System(_) => 1,
            Self::Guest(error) => error.status(),
        }
    }
}

impl From<RecordError> for RunCommandError {
    fn from(error: RecordError) -> Self {
        Self::Record(Box::new(error))
    }
}
