//! What a connection needs from an async runtime.

use std::io;
use std::os::fd::BorrowedFd;
use std::task::{Context, Poll};
use std::time::Instant;

/// An async runtime, which waits for sockets.
pub trait Runtime {
    /// Prepares to wait for a socket, until the reactor is dropped.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the socket.
    fn watch(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>>;
}

/// Waits for one socket, and for time, on behalf of one task at a time.
///
/// If a method returns [`Poll::Pending`], the waker of the latest call must be woken when it could
/// succeed. It may be woken too often.
pub trait Reactor: Send + Sync {
    /// Calls `read`, which does not wait, while the socket may be readable.
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) of `read` means that it is not.
    fn poll_read(
        &self,
        context: &mut Context<'_>,
        read: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>>;

    /// Calls `write`, which does not wait, while the socket may be writable.
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) of `write` means that it is not.
    fn poll_write(
        &self,
        context: &mut Context<'_>,
        write: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>>;

    /// Prepares to wait for another socket in the same runtime, as [`Runtime::watch`] does.
    ///
    /// # Errors
    ///
    /// If the runtime cannot watch the socket.
    fn watch_another(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>>;

    /// Is ready when this time has come.
    fn poll_deadline(&self, context: &mut Context<'_>, at: Instant) -> Poll<()>;
}
