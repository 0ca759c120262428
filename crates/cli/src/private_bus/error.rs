//! Why there is no private bus.

use std::process::ExitStatus;
use std::{fmt, io};

use daemon_command::locate::DaemonMissing;
use sys::signals::Signal;
use wire::address::AddressError;

use super::describe_end;

/// Why there is no private bus.
#[derive(Debug)]
pub(crate) enum StartError {
    /// There is no place for its socket and configuration.
    Directory(io::Error),
    /// The program of the bus is not installed.
    Missing(DaemonMissing),
    /// The program of the bus could not be started.
    Spawn(io::Error),
    /// It could not be waited for.
    Wait(io::Error),
    /// It ended at once, and has logged why; how, if that is known.
    Ended(Option<ExitStatus>),
    /// What it said is no address.
    Address(String, AddressError),
    /// While it started, this program was asked to end.
    Interrupted(Signal),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(error) => write!(f, "cannot make a directory for the bus: {error}"),
            Self::Missing(missing) => write!(f, "cannot start the bus: {missing}"),
            Self::Spawn(error) => write!(f, "cannot start the bus: {error}"),
            Self::Wait(error) => write!(f, "cannot wait for the bus: {error}"),
            Self::Ended(Some(status)) => {
                write!(f, "the bus did not start: it ended with {}", describe_end(*status))
            }
            Self::Ended(None) => f.write_str("the bus did not start"),
            Self::Address(text, error) => {
                write!(f, "the bus says that it listens at {text:?}, which is no address: {error}")
            }
            Self::Interrupted(signal) => {
                write!(f, "interrupted by {signal:?} before the bus had started")
            }
        }
    }
}

impl std::error::Error for StartError {}
