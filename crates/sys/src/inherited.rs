//! Descriptors that the parent process left open for this process: sockets from the service manager
//! (sd_listen_fds(3)), and numbers named on the command line.
//!
//! Taking such a descriptor requires that no other code in this process owns it. An inherited
//! descriptor is not close-on-exec, or it would have been closed, while all descriptors that Rust
//! code opens are. Taking a descriptor sets it close-on-exec, so it can be taken only once.

use crate::raw;
use std::os::fd::{OwnedFd, RawFd};
use std::{fmt, process};

/// Takes ownership of the inherited descriptor `number`.
///
/// # Errors
///
/// See [`InheritError`].
pub fn take(number: RawFd) -> Result<OwnedFd, InheritError> {
    raw::adopt_inherited(number)
}

/// The environment variables in which a service manager announces sockets. A program that passes
/// its environment to children should remove them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenVariables<'a> {
    /// `LISTEN_PID`: the process that the sockets are for.
    pub pid: Option<&'a str>,
    /// `LISTEN_FDS`: the number of sockets, whose descriptors start at 3.
    pub count: Option<&'a str>,
    /// `LISTEN_FDNAMES`: the name of each descriptor, separated by colons.
    pub names: Option<&'a str>,
}

/// A descriptor that the service manager passed: a socket, or a descriptor that an earlier process
/// of the service has put into the file descriptor store.
#[derive(Debug)]
pub struct PassedDescriptor {
    /// The name of the descriptor; empty if the service manager gave it no name.
    pub name: String,
    /// The descriptor, which is close-on-exec.
    pub descriptor: OwnedFd,
}

/// Takes all descriptors that the service manager passed, in its order; none if the variables are
/// not set, or are meant for another process. It does not check the type of the descriptors.
///
/// # Errors
///
/// See [`InheritError`]. The descriptors taken before the error are closed.
pub fn listen_fds(variables: ListenVariables<'_>) -> Result<Vec<PassedDescriptor>, InheritError> {
    let (Some(pid), Some(count)) = (variables.pid, variables.count) else {
        return Ok(Vec::new());
    };
    let pid: u32 = pid.parse().map_err(|_| InheritError::BadListenPid)?;
    if pid != process::id() {
        return Ok(Vec::new());
    }
    let count: u16 = count.parse().map_err(|_| InheritError::BadListenFds)?;
    let mut names = variables.names.unwrap_or_default().split(':');
    let numbers = LISTEN_FDS_START..LISTEN_FDS_START + RawFd::from(count);
    let taken = numbers.map(|number| {
        let name = names.next().unwrap_or_default().to_owned();
        Ok(PassedDescriptor { name, descriptor: take(number)? })
    });
    taken.collect()
}

/// A descriptor could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InheritError {
    /// The number is 0, 1 or 2, which belong to the standard streams.
    Standard(RawFd),
    /// The number is negative or not open: no descriptor was passed.
    NotOpen(RawFd),
    /// The descriptor was opened by this process, or was taken already.
    Owned(RawFd),
    /// `LISTEN_PID` is not a process id.
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
