//! Telling the service manager how far the program is (sd_notify(3)).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Whether somebody wanted to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// The state was sent.
    Sent,
    /// No service manager asked to be told.
    NotAsked,
}

/// Sends `state`, such as `READY=1`, to the socket that the service manager named in
/// `NOTIFY_SOCKET`, whose value is given as `socket`. Several assignments go in one state, each on
/// a line.
///
/// It never waits: the service manager may itself be waiting for the bus that calls this.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] when `socket` is neither an absolute path nor an abstract name
/// with `@` before it; [`io::ErrorKind::WouldBlock`] when the service manager is too busy;
/// otherwise that it cannot be reached.
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
