//! Sockets. Only Unix sockets with a path or an abstract name are simulated; the rest is real.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

pub use real::socket::{
    Accepted, Ipv6Scope, LocalAddress, SocketKind, UnixAddress, is_listening, listen_tcp,
    listen_unix_for_owner, local_address, packet_pair, send_at_once, socket_kind, socket_pair,
};

use crate::machine;

/// Opens a listener.
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] if a file exists at the path.
pub fn listen_unix(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let place = match address {
        UnixAddress::Path(path) => path.to_string_lossy().into_owned(),
        UnixAddress::Abstract(name) => String::from_utf8_lossy(name).into_owned(),
    };
    machine::with(|machine| machine.listen(place))
}

/// Accepts the oldest waiting connection.
///
/// # Errors
///
/// Never fails: a lack of descriptors is reported by [`Accepted::OutOfRoom`].
pub fn accept(listener: impl AsFd) -> io::Result<Accepted> {
    Ok(machine::with(|machine| match machine.accept_from(listener.as_fd()) {
        None => Accepted::NoneWaiting,
        Some(Ok(descriptor)) => Accepted::Connection(descriptor),
        Some(Err(error)) => Accepted::OutOfRoom(error),
    }))
}
