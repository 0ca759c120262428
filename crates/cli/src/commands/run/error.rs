//! Errors of `diligence run`.

use std::io;

use sys::signals::ProcessSignal;

use crate::commands::record::RecordError;
use crate::exit::ExitError;
use crate::private_bus::PrivateBusError;
use crate::user_command::UserCommandError;

/// The command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunCommandError {
    #[error(transparent)]
    Bus(#[from] PrivateBusError),
    #[error(transparent)]
    UserCommand(#[from] UserCommandError),
    #[error(transparent)]
    Record(Box<RecordError>),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for RunCommandError {
    /// A signal before the start of the command ends `run` with the status that a shell reports for
    /// it.
    fn status(&self) -> u8 {
        match self {
            Self::Bus(PrivateBusError::Interrupted(ProcessSignal::Interrupt)) => 128 + 2,
            Self::Bus(PrivateBusError::Interrupted(ProcessSignal::HangUp)) => 128 + 1,
            Self::Bus(PrivateBusError::Interrupted(_)) => 128 + 15,
            Self::Bus(_) | Self::Record(_) | Self::System(_) => 1,
            Self::UserCommand(error) => error.status(),
        }
    }
}

impl From<RecordError> for RunCommandError {
    fn from(error: RecordError) -> Self {
        Self::Record(Box::new(error))
    }
}
