//! Who is at the other end of a socket.

use std::io;
use std::os::fd::AsFd;

pub use real::credentials::{Ids, PeerCredentials, PeerProcess, own_credentials};

use crate::machine;

/// The numbers of who connected.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if it is no connection.
pub fn peer_ids(socket: impl AsFd) -> io::Result<Ids> {
    let ids = machine::with(|machine| Some(machine.socket_of(socket.as_fd())?.owner));
    ids.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// All about who connected.
///
/// # Errors
///
/// As [`peer_ids`].
pub fn peer_credentials(socket: impl AsFd) -> io::Result<PeerCredentials> {
    let socket = socket.as_fd();
    let Ids { pid, uid, gid } = peer_ids(socket)?;
    let groups = peer_groups(socket)?;
    Ok(PeerCredentials { pid, uid, gid, groups, security_label: None, pidfd: None })
}

/// The process that connected: its number is no real one.
///
/// # Errors
///
/// None.
pub fn peer_process(_: impl AsFd) -> io::Result<PeerProcess> {
    Ok(PeerProcess::Gone)
}

/// The groups of who connected.
///
/// # Errors
///
/// As [`peer_ids`].
pub fn peer_groups(socket: impl AsFd) -> io::Result<Option<Vec<u32>>> {
    Ok(Some(vec![peer_ids(socket)?.gid]))
}

/// The label of who connected: there is no security module.
///
/// # Errors
///
/// None.
pub fn peer_label(_: impl AsFd) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}
