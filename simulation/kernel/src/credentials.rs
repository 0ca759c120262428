//! The credentials of the peer at the other end of a socket.

use std::io;
use std::os::fd::AsFd;

pub use real::credentials::{Ids, PeerCredentials, PeerProcess, own_credentials};

use crate::machine;

/// Returns the process, user and group of the peer.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if `socket` is not a connection.
pub fn peer_ids(socket: impl AsFd) -> io::Result<Ids> {
    let ids = machine::with(|machine| Some(machine.socket_of(socket.as_fd())?.owner));
    ids.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Returns all credentials of the peer.
///
/// # Errors
///
/// Fails like [`peer_ids`].
pub fn peer_credentials(socket: impl AsFd) -> io::Result<PeerCredentials> {
    let socket = socket.as_fd();
    let Ids { pid, uid, gid } = peer_ids(socket)?;
    let groups = peer_groups(socket)?;
    Ok(PeerCredentials { pid, uid, gid, groups, security_label: None, pidfd: None })
}

/// Returns [`PeerProcess::Gone`], because the process IDs of simulated peers do not exist.
///
/// # Errors
///
/// Never fails.
pub fn peer_process(_: impl AsFd) -> io::Result<PeerProcess> {
    Ok(PeerProcess::Gone)
}

/// Returns `None`, because simulated peers are in no user namespace.
///
/// # Errors
///
/// Never fails.
pub fn uid_outside_of_peer(_: impl AsFd, _: u32) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Returns the groups of the peer, which are its primary group only.
///
/// # Errors
///
/// Fails like [`peer_ids`].
pub fn peer_groups(socket: impl AsFd) -> io::Result<Option<Vec<u32>>> {
    Ok(Some(vec![peer_ids(socket)?.gid]))
}

/// Returns `None`, because the simulated machine has no security module.
///
/// # Errors
///
/// Never fails.
pub fn peer_label(_: impl AsFd) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}
