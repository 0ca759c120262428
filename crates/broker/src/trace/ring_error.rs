//! Why the ring of a trace cannot be handed out.

use std::fmt;
use std::io;

/// Why the ring of a trace cannot be handed out.
#[derive(Debug)]
pub(crate) enum RingError {
    /// The system does not provide its memory or its descriptor.
    NotOpened(io::Error),
    /// The bus has no flight recorder.
    NoFlightRecorder,
}

impl From<io::Error> for RingError {
    fn from(error: io::Error) -> Self {
        Self::NotOpened(error)
    }
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("There is no trace: ")?;
        match self {
            Self::NotOpened(error) => error.fmt(f),
            Self::NoFlightRecorder => {
                f.write_str("this bus has no flight recorder (--flight-recorder)")
            }
        }
    }
}

impl std::error::Error for RingError {}
