//! Errors of commands that watch a bus.

use std::io;

use capture::query::QueryError;
use client::ConnectError;
use recorder::{BusListenError, BusPlace};

use crate::bus_choice::malformed;
use crate::exit::ExitError;

/// An error of a command that watches a bus.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("the query: {0}")]
    Query(#[from] QueryError),
    #[error("{}", match (.0, .1) {
        (BusPlace::Address(address), BusListenError::Connect(ConnectError::Address(_))) => malformed(address),
        (place, error) => format!("cannot watch {place}: {error}"),
    })]
    Bus(BusPlace, BusListenError),
    #[error("the bus closed the connection")]
    Gone,
    /// Waiting or printing failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ExitError for LiveError {
    fn status(&self) -> u8 {
        match self {
            Self::Query(_) => 2,
            Self::Bus(..) | Self::Gone | Self::System(_) => 1,
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<(BusPlace, BusListenError)> for LiveError {
    fn from((place, error): (BusPlace, BusListenError)) -> Self {
        Self::Bus(place, error)
    }
}
