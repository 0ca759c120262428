//! Notifies the service manager of the state of the program (sd_notify(3)).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The result of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// The state was sent.
    Sent,
    /// No service manager requested notifications.
    NotAsked,
}

/// Sends `state`, such as `READY=1`, to the socket that the service manager named in
/// `NOTIFY_SOCKET`, whose value is `socket`. A state may have several assignments, one per line.
///
/// It never blocks: the service manager may itself be waiting for the bus that calls this.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if `socket` is not an absolute path or an abstract name with a
/// leading `@`; [`io::ErrorKind::WouldBlock`] if the queue of the service manager is full;
/// otherwise the error of connecting to it.
pub fn notify(socket: Option<&OsStr>, state: &str) -> io::Result<Notified> {
    let Some(socket) = socket else {
        return Ok(Notified::NotAsked);
    };
    let address = match socket.as_bytes() {
        [b'/', ..] => SocketAddr::from_pathname(socket)?,
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    let sender = UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    sender.send_to_addr(state.as_bytes(), &address)?;
    Ok(Notified::Sent)
}
