//! Credentials of the process at the other end of a Unix socket, as recorded by the kernel.
//!
//! The kernel records them when the peer calls connect(2). For an accepted connection they do not
//! change when that process later changes its user or ends. Reading all of them costs up to five
//! system calls and a descriptor; [`peer_ids`] reads only the ids.

use crate::raw::{self, OptionValue};
use crate::socket::socket_pair;
use crate::uid_map::UidMap;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The ids of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The process id, or `None` if the process has none in our PID namespace.
    pub pid: Option<u32>,
    /// The effective user id.
    pub uid: u32,
    /// The effective group id.
    pub gid: u32,
}

/// The credentials of a process.
#[derive(Debug)]
pub struct PeerCredentials {
    /// The process id, or `None` if the process has none in our PID namespace. After the process
    /// has ended, its id can be reused; [`PeerCredentials::pidfd`] cannot.
    pub pid: Option<u32>,
    /// The effective user id.
    pub uid: u32,
    /// The effective group id.
    pub gid: u32,
    /// All group ids, including `gid`, ascending and without duplicates. `None` if the kernel does
    /// not provide them (before Linux 4.13).
    pub groups: Option<Vec<u32>>,
    /// The label that a security module (SELinux, AppArmor, Smack) has assigned to the process,
    /// without NUL bytes at the end. `None` without such a module.
    pub security_label: Option<Vec<u8>>,
    /// A pidfd of the process. `None` before Linux 6.5, if the process has ended already, or if
    /// descriptors have run out.
    pub pidfd: Option<OwnedFd>,
}

/// Reads the ids of the process that connected or created the other end of `socket` (socket(7):
/// `SO_PEERCRED`).
///
/// # Errors
///
/// Fails like [`peer_credentials`].
pub fn peer_ids(socket: impl AsFd) -> io::Result<Ids> {
    let [pid, uid, gid] = peer_numbers(socket.as_fd())?;
    if uid == NOBODY_KNOWN {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(Ids { pid: Some(pid).filter(|&pid| pid != 0), uid, gid })
}

/// Reads all credentials of the process that connected or created the other end of `socket` (also
/// `SO_PEERGROUPS`, `SO_PEERSEC`, `SO_PEERPIDFD`).
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if `socket` is not a connected Unix socket, so that the kernel
/// has no credentials.
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
    /// The process exists, and the pidfd refers to it.
    Held(OwnedFd),
    /// The process has ended, and its parent has waited for it.
    Gone,
    /// This kernel does not provide a pidfd (before Linux 6.5).
    Unknown,
}

/// Returns the process that connected or created the other end of `socket` (`SO_PEERPIDFD`).
///
/// # Errors
///
/// Fails if descriptors have run out, or if `socket` is not a connected Unix socket.
pub fn peer_process(socket: impl AsFd) -> io::Result<PeerProcess> {
    let gone = [Errno::SRCH, Errno::INVAL].map(|errno| Some(errno.raw_os_error()));
    match raw::peer_pidfd(socket.as_fd()) {
        Ok(pidfd) => Ok(PeerProcess::Held(pidfd)),
        Err(error) if gone.contains(&error.raw_os_error()) => Ok(PeerProcess::Gone),
        Err(error) if is_unknown(&error) => Ok(PeerProcess::Unknown),
        Err(error) => Err(error),
    }
}

/// Translates a user id from the user namespace of the process that connected or created the other
/// end of `socket` to the namespace of this process. `None` if the process has ended, is not in
/// another user namespace, or has no such id there, and before Linux 6.5.
///
/// # Errors
///
/// Fails if descriptors have run out, if `socket` is not a connected Unix socket, or without
/// `/proc`.
pub fn uid_outside_of_peer(socket: impl AsFd, inside: u32) -> io::Result<Option<u32>> {
    let socket = socket.as_fd();
    let PeerProcess::Held(process) = peer_process(socket)? else { return Ok(None) };
    let Some(pid) = peer_ids(socket)?.pid else { return Ok(None) };
    let map = match UidMap::of_process(pid) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        map => map?,
    };
    // A pidfd is readable when its process has ended. Until then, no other process has its id.
    let mut ended = [PollFd::new(&process, PollFlags::IN)];
    let runs = poll(&mut ended, Some(&Timespec::default()))? == 0;
    let is_other = runs && map != UidMap::of_process(std::process::id())?;
    Ok(if is_other { map.outside(inside) } else { None })
}

/// Reads the group ids of the process that connected or created the other end of `socket`,
/// ascending and without duplicates. `None` if the kernel does not provide them.
///
/// # Errors
///
/// Fails like [`peer_credentials`].
pub fn peer_groups(socket: impl AsFd) -> io::Result<Option<Vec<u32>>> {
    let socket = socket.as_fd();
    all_groups(socket, peer_ids(socket)?.gid)
}

/// Reads the label that a security module has assigned to the process that connected or created the
/// other end of `socket`, without NUL bytes at the end.
///
/// # Errors
///
/// Fails if `socket` is not a socket.
pub fn peer_label(socket: impl AsFd) -> io::Result<Option<Vec<u8>>> {
    peer_security_label(socket.as_fd())
}

/// Returns the credentials of this process, as a peer would see them.
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn own_credentials() -> io::Result<PeerCredentials> {
    // Both ends of a pair have the credentials of the process that created it.
    let (here, _there) = socket_pair()?;
    peer_credentials(here)
}

/// Reads `struct ucred`: process, user and group id. The type in rustix cannot represent the
/// process id 0, which the kernel reports for a peer in another PID namespace.
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

/// Reads an option whose length is unknown; `None` if this kernel does not have the option, or no
/// value for this socket.
fn optional_value(socket: BorrowedFd<'_>, option: c_int) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; VALUE_FIRST];
    loop {
        match raw::socket_option(socket, option, &mut value) {
            Ok(OptionValue::Whole(length)) => {
                value.truncate(length);
                return Ok(Some(value));
            }
            // Grows strictly, up to the kernel's own limits for groups and labels.
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

/// The size of a user, group or process id in bytes.
const NUMBER: usize = size_of::<u32>();

/// The user id that the kernel reports without credentials: -1.
const NOBODY_KNOWN: u32 = u32::MAX;

/// A buffer size in bytes that suffices for the groups or the label of nearly every peer.
const VALUE_FIRST: usize = 256;
