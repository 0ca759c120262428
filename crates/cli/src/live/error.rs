//! Why a bus is not watched, or not any longer.

use std::io;
use std::process::ExitCode;

use capture::query::QueryError;
use client::ConnectError;
use recorder::{ListenError, Place};

use crate::bus_choice::malformed;

/// Why a bus is not watched, or not any longer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("the query: {0}")]
    Query(#[from] QueryError),
    #[error("{}", match (.0, .1) {
        (Place::Address(address), ListenError::Connect(ConnectError::Address(_))) => malformed(address),
        (place, error) => format!("cannot watch {place}: {error}"),
    })]
    Bus(Place, ListenError),
    #[error("the bus is gone")]
    Gone,
    /// Waiting or printing failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl LiveError {
    /// Whether who reads has seen enough, and left.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The status to exit with.
    pub(crate) fn status(&self) -> ExitCode {
        match self {
            Self::Query(_) => ExitCode::from(2),
            Self::Bus(..) | Self::Gone | Self::System(_) => ExitCode::FAILURE,
        }
    }
}

impl From<(Place, ListenError)> for LiveError {
    fn from((place, error): (Place, ListenError)) -> Self {
        Self::Bus(place, error)
    }
}
