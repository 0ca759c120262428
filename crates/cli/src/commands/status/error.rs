//! Errors of `diligence status`.

use client::CallError;

use crate::bus_choice::Unreachable;
use crate::exit::ExitError;
use crate::inspection::InspectionError;

/// The state of a bus could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusError {
    #[error(transparent)]
    Connect(#[from] Unreachable),
    #[error(transparent)]
    Look(#[from] InspectionError),
    #[error("{choice} does not reply: {error}")]
    Ask { choice: String, error: CallError },
    #[error(
        "only root and the user of the bus may read the state of {choice}; run this command as root or as this user"
    )]
    Denied { choice: String },
}

impl ExitError for StatusError {}
