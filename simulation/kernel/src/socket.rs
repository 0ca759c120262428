//! Sockets. Only Unix sockets with a path or an abstract name are simulated; the rest is real.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

pub use real::socket::{
    Accepted, Ipv6Scope, LocalAddress, SocketKind, UnixAddress, is_listening, listen_tcp,
    listen_unix_for_owner, local_address, send_at_once, socket_kind, socket_pair,
};

use crate::machine::{self, SimulatedFile};

/// Opens a listener. All peers connect to it, whatever its address.
///
/// # Errors
///
/// Fails if this process has no descriptors left.
pub fn listen_unix(_: UnixAddress<'_>) -> io::Result<OwnedFd> {
    machine::with(|machine| machine.open(SimulatedFile::Listener))
}

/// Accepts the oldest waiting connection.
///
/// # Errors
///
/// Never fails: a lack of descriptors is reported by [`Accepted::OutOfRoom`].
pub fn accept(_: impl AsFd) -> io::Result<Accepted> {
    Ok(machine::with(|machine| match machine.waiting.pop_front() {
        None => Accepted::NoneWaiting,
        Some(socket) => match machine.open(SimulatedFile::Socket(socket)) {
            Ok(descriptor) => Accepted::Connection(descriptor),
            Err(error) => {
                machine.waiting.push_front(socket);
                Accepted::OutOfRoom(error)
            }
        },
    }))
}
