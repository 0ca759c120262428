//! Readiness of many descriptors at once: a level-triggered epoll instance.
//!
//! Level-triggered means that a descriptor is reported in every [`Poller::wait`] for as long as it
//! is ready. A loop therefore may read each ready socket once and go on, without the extra read
//! that would only learn that nothing is left; and it must not leave [`Interest::Write`] armed on
//! a socket that has room, or every wait returns at once.

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use std::{fmt, io};

/// A set of watched descriptors, each with a token and an [`Interest`] (epoll(7)).
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// A poller that watches nothing yet.
    ///
    /// # Errors
    ///
    /// Those of epoll_create1(2): no descriptor or no memory left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)? })
    }

    /// Starts to watch `source`; its events will carry `token`.
    ///
    /// The kernel watches the open file, not the number: while a duplicate of `source` stays open
    /// somewhere, closing `source` does not end the watch. [`Poller::remove`] does.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] when `source` is watched already,
    /// [`io::ErrorKind::PermissionDenied`] when it is of a kind that is always ready (a plain
    /// file), and the others of epoll_ctl(2).
    pub fn add(&self, source: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, source, EventData::new_u64(token), interest.flags())?)
    }

    /// Replaces the token and the interest of a watched `source`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] when `source` is not watched.
    pub fn modify(&self, source: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, source, EventData::new_u64(token), interest.flags())?)
    }

    /// Ends the watch of `source`. Events that an earlier wait returned may still name its token.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] when `source` is not watched.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Waits until something is ready, `timeout` is over or a signal handler ran, and puts what is
    /// ready into `events`, whose former content is discarded.
    ///
    /// `None` waits without limit, zero does not wait. Other times are rounded up to milliseconds,
    /// so a deadline that was waited for has passed. A signal leaves `events` empty.
    ///
    /// # Errors
    ///
    /// None that a correct caller can cause.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.ready.clear();
        let timeout = timeout.map(to_timespec);
        let room = rustix::buffer::spare_capacity(&mut events.ready);
        match epoll::wait(&self.epoll, room, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A poller can itself be watched: it is readable while it has an event to report.
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// What to report of a descriptor. Hang-up and errors are reported always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Data, a waiting connection or the end of the stream can be read.
    Read,
    /// There is room to write.
    Write,
    /// Both.
    ReadWrite,
    /// Neither, only that the peer is gone: for a sender that is not being read for a while. As the
    /// hang-up is reported again in every wait, answer it with [`Poller::remove`].
    Hangup,
}

impl Interest {
    fn flags(self) -> EventFlags {
        match self {
            Self::Read => EventFlags::IN,
            Self::Write => EventFlags::OUT,
            Self::ReadWrite => EventFlags::IN | EventFlags::OUT,
            Self::Hangup => EventFlags::empty(),
        }
    }
}

/// Room for the events of one wait, kept from turn to turn so that waiting allocates nothing.
pub struct Events {
    ready: Vec<epoll::Event>,
}

impl Events {
    /// Room for at least `capacity` events, and for one when that is zero. More descriptors than
    /// that may be ready; the kernel then reports them in turn over the following waits.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { ready: Vec::with_capacity(capacity.max(1)) }
    }

    /// The events of the latest wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PollEvent> {
        self.ready.iter().map(|event| PollEvent { token: event.data.u64(), flags: event.flags })
    }

    /// Whether the latest wait ended without an event: the timeout was over, or a signal came.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// One ready descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollEvent {
    token: u64,
    flags: EventFlags,
}

impl PollEvent {
    /// The token that [`Poller::add`] or [`Poller::modify`] gave the descriptor.
    #[must_use]
    pub fn token(self) -> u64 {
        self.token
    }

    /// A read will not block: there is data, a connection to accept, or the end of the stream.
    #[must_use]
    pub fn is_readable(self) -> bool {
        self.flags.contains(EventFlags::IN)
    }

    /// A write will not block.
    #[must_use]
    pub fn is_writable(self) -> bool {
        self.flags.contains(EventFlags::OUT)
    }

    /// The peer has closed both directions. Data that it sent before may still be readable.
    #[must_use]
    pub fn is_hangup(self) -> bool {
        self.flags.contains(EventFlags::HUP)
    }

    /// The socket is in error; the next read or write returns which.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.flags.contains(EventFlags::ERR)
    }
}

/// Whether a write of up to `PIPE_BUF` bytes would not block now, or would fail at once. A plain
/// file, which no [`Poller`] takes, always has room.
///
/// # Errors
///
/// Only when memory runs out.
pub fn has_room(sink: impl AsFd) -> io::Result<bool> {
    let mut sinks = [PollFd::new(&sink, PollFlags::OUT)];
    Ok(poll(&mut sinks, Some(&to_timespec(Duration::ZERO)))? > 0)
}

/// The kernel interface counts milliseconds in 32 bits; rustix rounds up to them.
fn to_timespec(timeout: Duration) -> Timespec {
    let timeout = timeout.min(TIMEOUT_MAX);
    Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).expect("limited to TIMEOUT_MAX"),
        tv_nsec: timeout.subsec_nanos().into(),
    }
}

/// The longest wait of epoll_wait(2), nearly 25 days.
const TIMEOUT_MAX: Duration = Duration::from_millis(i32::MAX as u64);
