//! Why nothing is told of a bus.

use std::fmt;

use client::CallError;

use crate::bus_choice::Unreachable;

/// Why nothing is told of a bus.
#[derive(Debug)]
pub(super) enum StatusError {
    /// There is no connection to it.
    Connect(Unreachable),
    /// It does not answer as a bus has to.
    Ask { choice: String, error: CallError },
    /// It tells such things to others only.
    Denied { choice: String },
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::Ask { choice, error } => write!(f, "{choice} does not answer: {error}"),
            Self::Denied { choice } => write!(
                f,
                "{choice} tells how it is to the superuser and to its own user; \
                 run this as one of them"
            ),
        }
    }
}

impl std::error::Error for StatusError {}

impl From<Unreachable> for StatusError {
    fn from(error: Unreachable) -> Self {
        Self::Connect(error)
    }
}
