//! Why `up` ended with a failure.

use std::process::ExitStatus;
use std::{fmt, io};

use crate::live::LiveError;
use crate::private_bus::{StartError, describe_end};

/// Why `up` ended with a failure.
#[derive(Debug)]
pub(super) enum UpError {
    /// There is no bus.
    Start {
        /// Why.
        error: StartError,
        /// What it said last.
        log: Vec<String>,
    },
    /// The programs of the demonstration cannot be started.
    Demo(io::Error),
    /// The bus cannot be watched, or the system does not let us.
    Live(LiveError),
    /// The bus ended, and nobody had asked it to.
    BusEnded {
        /// How.
        status: ExitStatus,
        /// What it said last.
        log: Vec<String>,
    },
}

impl From<LiveError> for UpError {
    fn from(error: LiveError) -> Self {
        Self::Live(error)
    }
}

impl From<io::Error> for UpError {
    fn from(error: io::Error) -> Self {
        Self::Live(error.into())
    }
}

impl fmt::Display for UpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { error, log } => {
                error.fmt(f)?;
                write_log(f, log)
            }
            Self::Demo(error) => write!(f, "cannot start the demonstration: {error}"),
            Self::Live(error) => error.fmt(f),
            Self::BusEnded { status, log } => {
                write!(f, "the bus has ended with {}", describe_end(*status))?;
                write_log(f, log)
            }
        }
    }
}

fn write_log(f: &mut fmt::Formatter<'_>, log: &[String]) -> fmt::Result {
    if log.is_empty() {
        return Ok(());
    }
    f.write_str("; it said last:")?;
    log.iter().try_for_each(|line| write!(f, "\n  {line}"))
}

impl std::error::Error for UpError {}
