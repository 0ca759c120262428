//! Waiting for ready descriptors. The world acts while the daemon waits.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

pub use real::poll::{Interest, has_room};

use crate::machine::{self, SimulatedFile};

/// A set of watched descriptors. All pollers of a machine share one set, since the daemon has only
/// one poller.
#[derive(Debug)]
pub struct Poller {
    descriptor: OwnedFd,
}

impl Poller {
    /// Creates a poller.
    ///
    /// # Errors
    ///
    /// Fails if this process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { descriptor: machine::with(|machine| machine.open(SimulatedFile::Poller))? })
    }

    /// Starts to watch `source`; its events will carry `token`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if `source` is watched already.
    pub fn add(&self, source: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        machine::with(|machine| machine.watch(source.as_fd(), token, interest, false))
    }

    /// Replaces the token and the interest of a watched `source`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if `source` is not watched.
    pub fn modify(&self, source: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        machine::with(|machine| machine.watch(source.as_fd(), token, interest, true))
    }

    /// Ends the watch of `source`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if `source` is not watched.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        machine::with(|machine| machine.unwatch(source.as_fd()))
    }

    /// Lets the world act until a descriptor is ready or `timeout` has passed.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.ready.clear();
        machine::wait(&mut events.ready, events.capacity, timeout);
        Ok(())
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A buffer for the events of one wait.
#[derive(Debug)]
pub struct Events {
    ready: Vec<PollEvent>,
    capacity: usize,
}

impl Events {
    /// Creates a buffer for `capacity` events.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { ready: Vec::with_capacity(capacity), capacity }
    }

    /// Returns the events of the latest wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PollEvent> {
        self.ready.iter().copied()
    }

    /// True if the latest wait ended without an event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

/// An event of one ready descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollEvent {
    pub(crate) token: u64,
    pub(crate) ready: Ready,
}

/// The conditions of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the bits of epoll(7)")]
pub(crate) struct Ready {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) hangup: bool,
    pub(crate) error: bool,
}

impl PollEvent {
    /// Returns the token of the descriptor.
    #[must_use]
    pub const fn token(self) -> u64 {
        self.token
    }

    /// True if a read will not block.
    #[must_use]
    pub const fn is_readable(self) -> bool {
        self.ready.read
    }

    /// True if a write will not block.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        self.ready.write
    }

    /// True if the peer has closed the connection.
    #[must_use]
    pub const fn is_hangup(self) -> bool {
        self.ready.hangup
    }

    /// True if the socket has an error.
    #[must_use]
    pub const fn is_error(self) -> bool {
        self.ready.error
    }
}
