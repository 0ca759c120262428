//! Readiness of many descriptors at once: a level-triggered epoll instance.
//!
//! Level-triggered means that every [`Poller::wait`] reports a descriptor as long as it is ready.
//! So a loop may read each ready socket once, without an extra read that finds it empty. It must
//! not keep [`Interest::Write`] armed on a socket with free space, or every wait returns
//! immediately.

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::time::Timespec;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use std::{array, fmt, io};

/// A set of watched descriptors, each with a token and an [`Interest`] (epoll(7)).
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// Creates a poller that watches no descriptors.
    ///
    /// # Errors
    ///
    /// Fails with the errors of epoll_create1(2): descriptors or memory have run out.
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

    /// Waits until a descriptor is ready, `timeout` is over or a signal handler ran, and stores the
    /// events in `events`, replacing its content.
    ///
    /// `None` waits without limit, zero does not wait. Other timeouts are rounded up to
    /// milliseconds, so after the wait a deadline has passed. A signal leaves `events` empty.
    ///
    /// # Errors
    ///
    /// Fails only if the poller is misused by its caller.
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

/// The events to report for a descriptor. Hang-up and errors are always reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Data, a waiting connection or the end of the stream can be read.
    Read,
    /// There is room to write.
    Write,
    /// Data can be read, or there is room to write.
    ReadWrite,
    /// Only the disconnect of the peer: for a sender that is not read for a while. Every wait
    /// reports the hang-up again, so answer it with [`Poller::remove`].
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

/// A buffer for the events of one wait, which is reused so that waiting allocates nothing.
pub struct Events {
    ready: Vec<epoll::Event>,
}

impl Events {
    /// Creates a buffer for at least `capacity` events, and for one if that is zero. If more
    /// descriptors are ready, the kernel reports them in turn over the following waits.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { ready: Vec::with_capacity(capacity.max(1)) }
    }

    /// Returns the events of the latest wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PollEvent> {
        self.ready.iter().map(|event| PollEvent { token: event.data.u64(), flags: event.flags })
    }

    /// True if the latest wait ended without an event: the timeout was over, or a signal arrived.
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

/// An event of one ready descriptor.
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

    /// The socket has an error, which the next read or write returns.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.flags.contains(EventFlags::ERR)
    }
}

/// True if a write of up to `PIPE_BUF` bytes would not block now, or would fail immediately. A
/// plain file, which a [`Poller`] rejects, always has room.
///
/// # Errors
///
/// Fails only if memory runs out.
pub fn has_room(sink: impl AsFd) -> io::Result<bool> {
    let mut sinks = [PollFd::new(&sink, PollFlags::OUT)];
    Ok(poll(&mut sinks, Some(&to_timespec(Duration::ZERO)))? > 0)
}

/// Waits until at least one of several descriptors is ready, or `timeout` has passed; `None` waits
/// for ever. Returns for each whether it is ready (poll(2)); none is if a signal interrupts the
/// wait.
///
/// # Errors
///
/// Fails only if memory runs out.
pub fn wait_for_any(
    descriptors: &[(BorrowedFd<'_>, Interest)],
    timeout: Option<Duration>,
) -> io::Result<Vec<bool>> {
    let flags = |interest| match interest {
        Interest::Read => PollFlags::IN,
        Interest::Write => PollFlags::OUT,
        Interest::ReadWrite => PollFlags::IN | PollFlags::OUT,
        Interest::Hangup => PollFlags::empty(),
    };
    let watch =
        |(descriptor, interest): &(_, _)| PollFd::from_borrowed_fd(*descriptor, flags(*interest));
    let mut polled: Vec<_> = descriptors.iter().map(watch).collect();
    match poll(&mut polled, timeout.map(to_timespec).as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(vec![false; polled.len()]),
        Err(error) => return Err(error.into()),
    }
    Ok(polled.iter().map(|one| !one.revents().is_empty()).collect())
}

/// Waits until one of at most [`AT_ONCE_MAX`] descriptors can be read, or `timeout` has passed;
/// `None` waits for ever. Returns one bit for each, from the lowest on (poll(2)); none is set if a
/// signal interrupts the wait. Allocates nothing.
///
/// # Errors
///
/// Fails only if memory runs out.
///
/// # Panics
///
/// Panics if there are more descriptors.
pub fn wait_for_data<'d>(
    descriptors: impl IntoIterator<Item = BorrowedFd<'d>>,
    timeout: Option<Duration>,
) -> io::Result<u64> {
    ask_for_data(descriptors, |polled| match poll(polled, timeout.map(to_timespec).as_ref()) {
        Err(Errno::INTR) => Ok(0),
        outcome => outcome,
    })
}

/// Like [`wait_for_data`], without waiting. A signal does not interrupt it.
///
/// # Errors
///
/// Fails only if memory runs out.
///
/// # Panics
///
/// Panics if there are more than [`AT_ONCE_MAX`] descriptors.
pub fn which_have_data<'d>(
    descriptors: impl IntoIterator<Item = BorrowedFd<'d>>,
) -> io::Result<u64> {
    let now = to_timespec(Duration::ZERO);
    ask_for_data(descriptors, |polled| retry_on_intr(|| poll(polled, Some(&now))))
}

fn ask_for_data<'d>(
    descriptors: impl IntoIterator<Item = BorrowedFd<'d>>,
    ask: impl FnOnce(&mut [PollFd<'d>]) -> Result<usize, Errno>,
) -> io::Result<u64> {
    let mut descriptors = descriptors.into_iter();
    let Some(first) = descriptors.next() else { return Ok(0) };
    let mut polled: [_; AT_ONCE_MAX] =
        array::from_fn(|_| PollFd::from_borrowed_fd(first, PollFlags::IN));
    let mut count = 1;
    for descriptor in descriptors {
        polled[count] = PollFd::from_borrowed_fd(descriptor, PollFlags::IN);
        count += 1;
    }
    let polled = &mut polled[..count];
    let ready = match ask(polled)? {
        0 => return Ok(0),
        _ => polled.iter().enumerate().filter(|(_, one)| !one.revents().is_empty()),
    };
    Ok(ready.fold(0, |bits, (place, _)| bits | 1 << place))
}

/// The number of descriptors that [`wait_for_data`] waits for.
pub const AT_ONCE_MAX: usize = 64;

/// The kernel interface has milliseconds in 32 bits; rustix rounds up to them.
fn to_timespec(timeout: Duration) -> Timespec {
    let timeout = timeout.min(TIMEOUT_MAX);
    Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).expect("limited to TIMEOUT_MAX"),
        tv_nsec: timeout.subsec_nanos().into(),
    }
}

/// The longest wait of epoll_wait(2), nearly 25 days.
const TIMEOUT_MAX: Duration = Duration::from_millis(i32::MAX as u64);
