//! Who is at the other end of a Unix socket, as the kernel recorded it.
//!
//! The record is made when the peer calls connect(2), and for the peer of an accepted connection
//! it does not change when that process later changes its user, nor when it ends. All of it costs
//! up to five system calls and a descriptor, so who needs only the numbers asks for [`peer_ids`].

use crate::raw::{self, OptionValue};
use crate::socket::socket_pair;
use rustix::io::Errno;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The numbers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Its own, or `None` when it has none in our PID namespace.
    pub pid: Option<u32>,
    /// Its effective user.
    pub uid: u32,
    /// Its effective group.
    pub gid: u32,
}

/// The identity of a process.
#[derive(Debug)]
pub struct PeerCredentials {
    /// Its number, or `None` when it has none in our PID namespace. The number can be given to
    /// another process once this one has ended; [`PeerCredentials::pidfd`] cannot.
    pub pid: Option<u32>,
    /// The effective user number.
    pub uid: u32,
    /// The effective group number.
    pub gid: u32,
    /// All groups, `gid` among them, ascending, each once. `None` when the kernel cannot tell
    /// (before Linux 4.13).
    pub groups: Option<Vec<u32>>,
    /// The label that a security module (SELinux, AppArmor, Smack) has given to the process,
    /// without NUL bytes at the end. `None` without such a module.
    pub security_label: Option<Vec<u8>>,
    /// A descriptor of the process. `None` before Linux 6.5, when the process is gone already, or
    /// when descriptors have run out.
    pub pidfd: Option<OwnedFd>,
}

/// Asks for the numbers of who connected, or made, the other end of `socket` (socket(7):
/// `SO_PEERCRED`).
///
/// # Errors
///
/// As [`peer_credentials`].
pub fn peer_ids(socket: impl AsFd) -> io::Result<Ids> {
    let [pid, uid, gid] = peer_numbers(socket.as_fd())?;
    if uid == NOBODY_KNOWN {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(Ids { pid: Some(pid).filter(|&pid| pid != 0), uid, gid })
}

/// Asks for all about who connected, or made, the other end of `socket` (also `SO_PEERGROUPS`, `SO_PEERSEC`, `SO_PEERPIDFD`).
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] when `socket` is not a connected Unix socket, so that the kernel
/// knows no credentials.
pub fn peer_credentials(socket: impl AsFd) -> io::Result<PeerCredentials> {
    let socket = socket.as_fd();
    let Ids { pid, uid, gid } = peer_ids(socket)?;
    Ok(PeerCredentials {
        pid,
        uid,
        gid,
        groups: all_groups(socket, gid)?,
        security_label: peer_security_label(socket)?,
        pidfd: raw::peer_pidfd(socket).ok(),
    })
}

/// The process at the other end of a socket.
#[derive(Debug)]
pub enum PeerProcess {
    /// It is there, and a descriptor stands for it.
    Held(OwnedFd),
    /// It has ended, and was waited for.
    Gone,
    /// This kernel cannot tell (before Linux 6.5).
    Unknown,
}

/// Asks for the process that connected, or made, the other end of `socket` (`SO_PEERPIDFD`).
///
/// # Errors
///
/// When descriptors have run out, or `socket` is no connected Unix socket.
pub fn peer_process(socket: impl AsFd) -> io::Result<PeerProcess> {
    let gone = [Errno::SRCH, Errno::INVAL].map(|errno| Some(errno.raw_os_error()));
    match raw::peer_pidfd(socket.as_fd()) {
        Ok(pidfd) => Ok(PeerProcess::Held(pidfd)),
        Err(error) if gone.contains(&error.raw_os_error()) => Ok(PeerProcess::Gone),
        Err(error) if is_unknown(&error) => Ok(PeerProcess::Unknown),
        Err(error) => Err(error),
    }
}

/// Asks for the groups of who connected, or made, the other end of `socket`: ascending, each once.
/// `None` when the kernel cannot tell.
///
/// # Errors
///
/// As [`peer_credentials`].
pub fn peer_groups(socket: impl AsFd) -> io::Result<Option<Vec<u32>>> {
    let socket = socket.as_fd();
    all_groups(socket, peer_ids(socket)?.gid)
}

/// Asks for the label that a security module has given to who connected, or made, the other end of
/// `socket`, without NUL bytes at the end.
///
/// # Errors
///
/// When `socket` is no socket.
pub fn peer_label(socket: impl AsFd) -> io::Result<Option<Vec<u8>>> {
    peer_security_label(socket.as_fd())
}

/// The identity of this process, as a peer would see it.
///
/// # Errors
///
/// Only when descriptors or memory run out.
pub fn own_credentials() -> io::Result<PeerCredentials> {
    // Both ends of a pair have the credentials of who made it.
    let (here, _there) = socket_pair()?;
    peer_credentials(here)
}

/// `struct ucred`: process, user and group number. rustix's form of it cannot hold the process
/// number 0, which is what the kernel says of a peer in another PID namespace.
fn peer_numbers(socket: BorrowedFd<'_>) -> io::Result<[u32; 3]> {
    let mut value = [0; 3 * NUMBER];
    raw::socket_option(socket, libc::SO_PEERCRED, &mut value)?;
    let mut numbers = decode_numbers(&value);
    Ok([(); 3].map(|()| numbers.next().expect("three numbers in twelve bytes")))
}

fn all_groups(socket: BorrowedFd<'_>, primary: u32) -> io::Result<Option<Vec<u32>>> {
    let Some(value) = optional_value(socket, libc::SO_PEERGROUPS)? else {
        return Ok(None);
    };
    let mut groups: Vec<u32> = decode_numbers(&value).chain([primary]).collect();
    groups.sort_unstable();
    groups.dedup();
    Ok(Some(groups))
}

fn peer_security_label(socket: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    let Some(mut label) = optional_value(socket, libc::SO_PEERSEC)? else {
        return Ok(None);
    };
    // Some modules count the terminating NUL, some do not.
    while label.last() == Some(&0) {
        label.pop();
    }
    Ok(Some(label).filter(|label| !label.is_empty()))
}

/// The value of an option whose length is not known before, or `None` when this kernel has no such
/// option or no value for this socket.
fn optional_value(socket: BorrowedFd<'_>, option: c_int) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; VALUE_FIRST];
    loop {
        match raw::socket_option(socket, option, &mut value) {
            Ok(OptionValue::Whole(length)) => {
                value.truncate(length);
                return Ok(Some(value));
            }
            // Grows strictly, and no further than the kernel's own limits of groups and labels.
            Ok(OptionValue::Needs(length)) => value.resize(length, 0),
            Err(error) if is_unknown(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn is_unknown(error: &io::Error) -> bool {
    [Errno::NOPROTOOPT, Errno::NODATA, Errno::OPNOTSUPP, Errno::INVAL]
        .map(Errno::raw_os_error)
        .contains(&error.raw_os_error().unwrap_or(0))
}

fn decode_numbers(value: &[u8]) -> impl Iterator<Item = u32> {
    value.as_chunks().0.iter().map(|&bytes| u32::from_ne_bytes(bytes))
}

/// Bytes of a user, group or process number.
const NUMBER: usize = size_of::<u32>();

/// The user number that the kernel reports where there are no credentials: -1.
const NOBODY_KNOWN: u32 = u32::MAX;

/// Bytes that hold the groups or the label of nearly every peer.
const VALUE_FIRST: usize = 256;
