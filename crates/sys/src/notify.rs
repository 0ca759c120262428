//! Notifies the service manager of the state of the program (sd_notify(3)).

use crate::poll::{Events, Interest, Poller};
use crate::transfer::{TransferWait, send};
use std::ffi::OsStr;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

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
    let sender = UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    sender.send_to_addr(state.as_bytes(), &address(socket)?)?;
    Ok(Notified::Sent)
}

/// Sends `state` and `descriptors` to the socket that the service manager named, such as
/// `FDSTORE=1` for its file descriptor store. Waits at most for the time `wait` until there is room
/// in the queue of the service manager.
///
/// # Errors
///
/// Fails like [`notify`] or [`send`]. Fails with [`io::ErrorKind::WouldBlock`] if the queue stays
/// full for this time.
pub fn pass(
    socket: &OsStr,
    state: &str,
    descriptors: &[BorrowedFd<'_>],
    wait: Duration,
) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.connect_addr(&address(socket)?)?;
    sender.set_write_timeout(Some(wait))?;
    send(&sender, &[IoSlice::new(state.as_bytes())], descriptors, TransferWait::Block)?;
    Ok(())
}

/// Waits until the service manager has handled all earlier notifications of this process
/// (sd_notify_barrier(3)). Without that, it may not know whose they were if the process ends.
///
/// # Errors
///
/// The errors of [`pass`]; [`io::ErrorKind::TimedOut`] if that takes longer than `wait`.
pub fn barrier(socket: &OsStr, wait: Duration) -> io::Result<()> {
    let (reader, writer) = io::pipe()?;
    pass(socket, "BARRIER=1", &[writer.as_fd()], wait)?;
    drop(writer);
    let (poller, mut events) = (Poller::new()?, Events::with_capacity(1));
    poller.add(&reader, 0, Interest::Read)?;
    let deadline = crate::clock::monotonic() + wait;
    loop {
        let rest = deadline.saturating_sub(crate::clock::monotonic());
        poller.wait(&mut events, Some(rest))?;
        if !events.is_empty() {
            return Ok(());
        }
        if rest.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    match socket.as_bytes() {
        [b'/', ..] => SocketAddr::from_pathname(socket),
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
