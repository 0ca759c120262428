//! Why a bus cannot be watched.

use std::{error, fmt, io};

use recorder::{ListenError, Place};

/// Why a bus cannot be watched.
#[derive(Debug)]
pub(crate) enum LiveError {
    /// It does not let us.
    Bus(Place, ListenError),
    /// The system does not let us wait, or show anything.
    System(io::Error),
}

impl LiveError {
    /// Whether who reads has seen enough, and left.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::BrokenPipe)
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
            Self::Bus(place, error) => write!(f, "cannot watch {place}: {error}"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl error::Error for LiveError {}
