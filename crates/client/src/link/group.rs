//! One descriptor for all sockets of a connection.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;

use unix::poll::{Interest, Poller};

/// Readable if the socket of the bus or of a lane is, for programs that wait for one descriptor.
/// Others do not pay for it: they wait for the sockets themselves.
///
/// Call its methods only with the lock of the connection, so that it gets all sockets.
#[derive(Debug, Default)]
pub(super) struct IncomingSockets(OnceLock<Poller>);

impl IncomingSockets {
    #[inline]
    pub(super) fn exists(&self) -> bool {
        self.0.get().is_some()
    }

    /// The descriptor of the group, which is created with these sockets if there is none.
    pub(super) fn get_or_create<'s>(
        &self,
        sockets: impl Iterator<Item = BorrowedFd<'s>>,
    ) -> io::Result<BorrowedFd<'_>> {
        if let Some(group) = self.0.get() {
            return Ok(group.as_fd());
        }
        let group = Poller::new()?;
        for socket in sockets {
            group.add(socket, 0, Interest::Read)?;
        }
        Ok(self.0.get_or_init(|| group).as_fd())
    }

    /// Adds a socket, if the group exists.
    pub(super) fn add(&self, socket: impl AsFd) -> io::Result<()> {
        self.0.get().map_or(Ok(()), |group| group.add(socket, 0, Interest::Read))
    }

    /// Removes a socket, if the group exists.
    ///
    /// # Errors
    ///
    /// If the group does not have the socket.
    pub(super) fn remove(&self, socket: impl AsFd) -> io::Result<()> {
        self.0.get().map_or(Ok(()), |group| group.remove(socket))
    }
}
