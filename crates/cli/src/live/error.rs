//! Why a bus is not watched, or not any longer.

use std::process::ExitCode;
use std::{error, fmt, io};

use capture::query::QueryError;
use client::ConnectError;
use recorder::{ListenError, Place};

use crate::bus_choice::malformed;

/// Why a bus is not watched, or not any longer.
#[derive(Debug)]
pub(crate) enum LiveError {
    /// What is asked for is no query.
    Query(QueryError),
    /// The bus does not let us.
    Bus(Place, ListenError),
    /// The bus is gone.
    Gone,
    /// The system does not let us wait, or show anything.
    System(io::Error),
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

impl From<QueryError> for LiveError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<(Place, ListenError)> for LiveError {
    fn from((place, error): (Place, ListenError)) -> Self {
        Self::Bus(place, error)
    }
}

impl From<io::Error> for LiveError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => write!(f, "the query: {error}"),
            Self::Bus(Place::Address(address), ListenError::Connect(ConnectError::Address(_))) => {
                malformed(f, address)
            }
            Self::Bus(place, error) => write!(f, "cannot watch {place}: {error}"),
            Self::Gone => f.write_str("the bus is gone"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl error::Error for LiveError {}
