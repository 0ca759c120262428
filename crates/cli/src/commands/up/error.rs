//! Errors of `diligence up`.

use std::io;
use std::process::ExitStatus;

use capture::text::visible::printable;

use crate::exit::ExitError;
use crate::live::LiveError;
use crate::private_bus::{PrivateBusError, describe_end};

/// An error of `diligence up`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpError {
    /// The bus did not start; `log` contains its last log lines.
    #[error("{error}{}", last_lines(log))]
    Start { error: PrivateBusError, log: Vec<String> },
    #[error("cannot start the demonstration: {0}")]
    Demo(io::Error),
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The bus ended by itself; `log` contains its last log lines.
    #[error("the bus has ended with {}{}", describe_end(*status), last_lines(log))]
    BusEnded { status: ExitStatus, log: Vec<String> },
}

impl ExitError for UpError {
    fn printed(&self) -> String {
        match self {
            Self::Start { .. } | Self::BusEnded { .. } => self.to_string(),
            Self::Demo(_) | Self::Live(_) => printable(&self.to_string()).into_owned(),
        }
    }

    fn is_quiet(&self) -> bool {
        match self {
            Self::Live(error) => error.is_quiet(),
            Self::Start { error, .. } => matches!(error, PrivateBusError::Interrupted(_)),
            Self::Demo(_) | Self::BusEnded { .. } => false,
        }
    }
}

impl From<io::Error> for UpError {
    fn from(error: io::Error) -> Self {
        Self::Live(error.into())
    }
}

fn last_lines(log: &[String]) -> String {
    let lines: String = log.iter().map(|line| format!("\n  {}", printable(line))).collect();
    if log.is_empty() { lines } else { format!("; its last log lines:{lines}") }
}
