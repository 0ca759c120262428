//! Descriptors that whoever started this process left open for it: sockets from the service
//! manager (sd_listen_fds(3)), and numbers named on the command line.
//!
//! To take such a descriptor is to claim that nobody in this process owns it yet. What proves the
//! claim: an inherited descriptor is not close-on-exec, or it would not be here, while the
//! descriptors that Rust code opens all are. Each is set close-on-exec when it is taken, so it can
//! be taken once.

use crate::raw;
use std::os::fd::{OwnedFd, RawFd};
use std::{fmt, process};

/// Takes the ownership of the inherited descriptor `number`.
///
/// # Errors
///
/// See [`InheritError`].
pub fn take(number: RawFd) -> Result<OwnedFd, InheritError> {
    raw::adopt_inherited(number)
}

/// The variables in which a service manager announces sockets. A program that passes its
/// environment on to children should remove them from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenVariables<'a> {
    /// `LISTEN_PID`: the process that the sockets are for.
    pub pid: Option<&'a str>,
    /// `LISTEN_FDS`: how many there are, in numbers from 3 on.
    pub count: Option<&'a str>,
}

/// Takes all sockets that the service manager passed, in its order: none when the variables are
/// not set, or meant for another process. That they are sockets, and which, is not checked.
///
/// # Errors
///
/// See [`InheritError`]. The descriptors taken until then are closed.
pub fn listen_fds(variables: ListenVariables<'_>) -> Result<Vec<OwnedFd>, InheritError> {
    let (Some(pid), Some(count)) = (variables.pid, variables.count) else {
        return Ok(Vec::new());
    };
    let pid: u32 = pid.parse().map_err(|_| InheritError::BadListenPid)?;
    if pid != process::id() {
        return Ok(Vec::new());
    }
    let count: u16 = count.parse().map_err(|_| InheritError::BadListenFds)?;
    (LISTEN_FDS_START..LISTEN_FDS_START + RawFd::from(count)).map(take).collect()
}

/// Why a descriptor could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InheritError {
    /// This one is 0, 1 or 2, which belong to the standard streams.
    Standard(RawFd),
    /// This number is negative or not open: nothing was passed under it.
    NotOpen(RawFd),
    /// This one was opened by this process, or was taken already.
    Owned(RawFd),
    /// `LISTEN_PID` is not a process number.
    BadListenPid,
    /// `LISTEN_FDS` is not a number of descriptors.
    BadListenFds,
}

impl fmt::Display for InheritError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard(fd) => write!(f, "descriptor {fd} is a standard stream"),
            Self::NotOpen(fd) => write!(f, "descriptor {fd} is not open"),
            Self::Owned(fd) => write!(f, "descriptor {fd} was not inherited, or is in use already"),
            Self::BadListenPid => f.write_str("LISTEN_PID is not a process number"),
            Self::BadListenFds => f.write_str("LISTEN_FDS is not a number of descriptors"),
        }
    }
}

impl std::error::Error for InheritError {}

/// The first number that a service manager uses (`SD_LISTEN_FDS_START`).
const LISTEN_FDS_START: RawFd = 3;
