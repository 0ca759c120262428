//! Errors in starting a private bus.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;

use daemon_command::locate::DaemonMissing;
use sys::signals::ProcessSignal;
use wire::address::AddressError;

use super::describe_end;

/// The private bus could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrivateBusError {
    #[error("cannot make a directory for the bus: {0}")]
    Directory(io::Error),
    #[error("cannot start the bus: {0}")]
    Missing(DaemonMissing),
    #[error("cannot start the bus: cannot execute {0:?}: {1}")]
    Spawn(OsString, io::Error),
    #[error("cannot wait for the bus: {0}")]
    Wait(io::Error),
    /// The bus ended before it was ready and logged the reason; the status is `None` if waiting
    /// failed.
    #[error("the bus did not start{}", .0.map(|status| format!(": it ended with {}", describe_end(status))).unwrap_or_default())]
    Ended(Option<ExitStatus>),
    #[error("the bus printed an invalid address, {0:?}: {1}")]
    Address(String, AddressError),
    /// This program received a terminating signal while the bus was starting.
    #[error("interrupted by {0:?} before the bus had started")]
    Interrupted(ProcessSignal),
}
