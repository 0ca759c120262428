//! The connection handle: its properties, and sending messages.

use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use unix::clock;
use wire::guid::Guid;
use wire::message::Builder;
use wire::names::{BusName, BusNameBuf, InterfaceName, MemberName, ObjectPath};
use wire::sasl::FdPassing;

use super::error::EmitError;
use super::object::{PendingChanges, ServedObjects};
use crate::core::{ConnectionCounters, Core, Ended, LaneUse, MessageBody, Reconnection, SendError};
use crate::link::{
    AtomicTimeout, ConnectionLink, EstablishedSocket, LinkGuard, ReadMode, ReceivedMessage,
    Reconnect, Redial, SendProgress, WaitTarget, deadline,
};
use crate::name::IntoName;

/// A connection to a bus, or to a [peer](Self::open_peer). This is a handle: clones refer to the
/// same connection, also in other threads. A thread that waits does not delay others.
#[derive(Clone)]
pub struct Connection {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) link: ConnectionLink,
    call_timeout: AtomicTimeout,
    objects: Mutex<ServedObjects>,
    pending_changes: PendingChanges,
    /// True if tasks send, so that no method may wait for room.
    is_left_to_tasks: AtomicBool,
}

/// When a queued message is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Departure {
    /// As far as the socket has room for it.
    AtOnce,
    /// When the program next waits, so that more messages can leave with it.
    Later,
}

/// The result of [`Connection::flush_within`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushed {
    /// All queued bytes were sent.
    Whole,
    /// The bus did not read everything in time. The rest is sent when a method next waits.
    InPart,
}

/// Properties of the connection.
impl Connection {
    /// The unique name of this connection. It changes if the connection is
    /// [restored](crate::Reconnect).
    ///
    /// # Panics
    ///
    /// On a connection to a [peer](Self::open_peer) without a bus, where nobody has a name.
    pub fn unique_name(&self) -> BusName<'_> {
        self.name_on_bus().expect("connections without a bus have no names")
    }

    /// The unique name of this connection; `None` on a connection to a [peer](Self::open_peer)
    /// without a bus.
    pub fn name_on_bus(&self) -> Option<BusName<'_>> {
        self.shared.link.identity.latest().unique_name.as_ref().map(BusNameBuf::as_name)
    }

    /// The GUID of the bus's address; `None` if the bus sent no valid one.
    pub fn server_guid(&self) -> Option<Guid> {
        self.shared.link.identity.latest().guid
    }

    /// Whether messages can carry file descriptors.
    pub fn fds(&self) -> FdPassing {
        self.core(|core| core.fds())
    }

    /// The reason why the connection ended. The end is detected when bytes are sent or received.
    pub fn ended(&self) -> Option<Ended> {
        self.core(|core| core.ended())
    }

    /// How often the connection dropped or refused a message, since it was opened.
    pub fn counters(&self) -> ConnectionCounters {
        self.core(|core| core.counters())
    }

    /// The time until the next call times out or the next attempt to [connect
    /// again](crate::Reconnect) is due, for programs with their own event loop: then
    /// [`process`](Self::process) has work to do. `None` if nothing has a time limit. It can be
    /// shorter: the time until a call would have timed out that was answered.
    pub fn next_timeout(&self) -> Option<Duration> {
        let next = self.shared.link.lock().next_timeout()?;
        Some(next.saturating_sub(clock::monotonic()))
    }

    /// Sets whether messages to partners with which this connection exchanges many travel on lanes:
    /// direct sockets, if the bus offers them and the partner wants them, too. Without a bus, this
    /// has no effect.
    ///
    /// Messages of lanes do not arrive at the [socket](AsFd::as_fd) of the connection. Programs
    /// with their own event loop wait for the [descriptor of all
    /// sockets](Self::incoming_descriptor) instead.
    pub fn set_lane_use(&self, lane_use: LaneUse) {
        if let Some(name) = self.name_on_bus() {
            self.core(|core| core.set_lane_use(lane_use, name));
        }
    }

    /// A descriptor that is readable when messages arrive from the bus or on lanes, for an event
    /// loop. It stays the same, also when the connection is [restored](crate::Reconnect). For the
    /// rest, it is like the [socket](AsFd::as_fd). It cannot tell whether the socket has room.
    ///
    /// # Errors
    ///
    /// If this process or the system has no descriptors or memory left.
    pub fn incoming_descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.shared.link.incoming()
    }

    /// Number of lanes that the connection can send on now.
    pub fn lane_count(&self) -> usize {
        self.core(|core| core.usable_lane_count())
    }

    /// Sets how long calls without a timeout of their own wait for their replies; `None` means
    /// forever. The default is [`CALL_TIMEOUT`].
    pub fn set_call_timeout(&self, timeout: Option<Duration>) {
        self.shared.call_timeout.store(timeout);
    }
}

/// Connecting again after the bus went away.
impl Connection {
    /// Waits until the connection was [restored](crate::Reconnect) after the bus went away, and
    /// returns the report, for at most `timeout`, or forever; `None` if it was not. Each report is
    /// returned once.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub fn next_reconnection(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<Reconnection>, Ended> {
        self.wait_until(WaitTarget::Reconnection, timeout, |state| state.core.poll_reconnection())
    }

    /// True unless the connection ended, or the bus is away.
    pub(crate) fn is_connected(&self) -> bool {
        let state = self.shared.link.lock();
        state.core.ended().is_none() && !state.is_interrupted()
    }
}

/// Methods that send messages.
impl Connection {
    /// Queues a signal; see [when messages leave](crate#when-messages-leave).
    ///
    /// # Errors
    ///
    /// [`EmitError::Name`] if one of the names is malformed; [`EmitError::Send`] if the arguments
    /// cannot be encoded, or the connection ended.
    pub fn emit<'a>(
        &self,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        let (path, interface) = (path.into_name()?, interface.into_name()?);
        let message = Builder::signal(path, interface, member.into_name()?);
        self.send(&message, arguments, Vec::new())?;
        Ok(())
    }

    /// [Queues](crate#when-messages-leave) a message of any type, and returns its serial. A reply to
    /// it is ignored.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded, its descriptors cannot be passed, or the connection ended.
    pub fn send(
        &self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<NonZeroU32, SendError> {
        let send = |core: &mut Core<_>| core.send(message, body, descriptors);
        self.queue(Departure::Later, send, || self.send_deadline())
    }

    /// Queues the bytes of complete messages, for programs that encode messages themselves.
    ///
    /// # Errors
    ///
    /// If the connection ended.
    pub fn send_bytes(&self, messages: &[u8]) -> Result<(), SendError> {
        self.queue(Departure::Later, |core| core.send_bytes(messages), || self.send_deadline())
    }

    /// Sends all queued bytes, and waits while the bus does not read them.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub fn flush(&self) -> Result<(), Ended> {
        let state = self.shared.link.flush();
        state.core.ended().map_or(Ok(()), Err)
    }

    /// Sends all queued bytes, and waits for at most `timeout` while the bus does not read them.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub fn flush_within(&self, timeout: Duration) -> Result<Flushed, Ended> {
        let link = &self.shared.link;
        let state = link.flush_until(link.lock(), deadline(Some(timeout)));
        match state.core.ended() {
            Some(ended) => Err(ended),
            None if state.core.waiting_len() > 0 => Ok(Flushed::InPart),
            None => Ok(Flushed::Whole),
        }
    }
}

/// Helpers for the modules of the front end.
impl Connection {
    pub(crate) fn core<T>(&self, look: impl FnOnce(&mut Core<OwnedFd>) -> T) -> T {
        look(&mut self.shared.link.lock().core)
    }

    pub(super) fn lock(&self) -> LinkGuard<'_> {
        self.shared.link.lock()
    }

    /// Calls `queue`, and sends the queued bytes at once, or if there are many, or if another thread
    /// waits already, which would not send them. If the bus does not read them before the deadline,
    /// they stay queued.
    pub(super) fn queue<T>(
        &self,
        departure: Departure,
        queue: impl FnOnce(&mut Core<OwnedFd>) -> Result<T, SendError>,
        deadline: impl FnOnce() -> Option<Duration>,
    ) -> Result<T, SendError> {
        let link = &self.shared.link;
        let mut state = link.lock();
        let queued = queue(&mut state.core)?;
        let sent = match departure {
            Departure::AtOnce => link.send(&mut state),
            Departure::Later => {
                state.send_on_lane(None);
                link.send_beside_waiter(&mut state)
            }
        };
        if self.shared.is_left_to_tasks.load(Ordering::Relaxed) {
            if sent == SendProgress::Full {
                state.wake_driver();
            }
            return Ok(queued);
        }
        // A thread that waits already does not send the rest.
        let is_stuck = sent == SendProgress::Full && state.is_waited_for();
        if state.core.waiting_len() >= UNSENT_LEN_MAX || is_stuck {
            drop(link.flush_until(state, deadline()));
        }
        Ok(queued)
    }

    /// Queues the answer to a call. The bus that passed the call on must be the same.
    pub(super) fn answer(
        &self,
        departure: Departure,
        request: &ReceivedMessage,
        reply: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), SendError> {
        let answer = |core: &mut Core<_>| match core.epoch() == request.epoch() {
            true => core.send(reply, body, descriptors).map(drop),
            false => Err(SendError::Disconnected(Ended::Closed)),
        };
        self.queue(departure, answer, || self.send_deadline())
    }

    /// The deadline for sending a message without a reply: the default time limit of a call.
    fn send_deadline(&self) -> Option<Duration> {
        deadline(self.call_timeout())
    }

    /// Makes methods that queue a message never wait for room in the socket.
    pub(crate) fn leave_sending_to_tasks(&self) {
        self.shared.is_left_to_tasks.store(true, Ordering::Relaxed);
    }

    pub(crate) fn link(&self) -> &ConnectionLink {
        &self.shared.link
    }

    pub(super) fn call_timeout(&self) -> Option<Duration> {
        self.shared.call_timeout.load()
    }

    pub(crate) fn set_read_mode(&self, mode: ReadMode) {
        self.shared.link.lock().set_read_mode(mode);
    }

    pub(super) fn objects(&self) -> MutexGuard<'_, ServedObjects> {
        // No code of the program runs while it is locked.
        self.shared.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pending_changes(&self) -> &PendingChanges {
        &self.shared.pending_changes
    }

    pub(crate) fn new(
        connected: EstablishedSocket,
        reconnect: Reconnect,
        redial: Option<Box<dyn Redial>>,
    ) -> Self {
        let EstablishedSocket { established, socket } = connected;
        let link = ConnectionLink::new(established, socket, reconnect, redial);
        let call_timeout = AtomicTimeout::new(Some(CALL_TIMEOUT));
        Self {
            shared: Arc::new(Shared {
                link,
                call_timeout,
                objects: Mutex::default(),
                pending_changes: PendingChanges::default(),
                is_left_to_tasks: AtomicBool::new(false),
            }),
        }
    }
}

impl AsFd for Connection {
    /// The socket, for an event loop. It is readable when a message may have arrived; then call
    /// [`process`](Connection::process) with a zero timeout until no message is left. Call
    /// [`flush`](Connection::flush) before each wait, and do not read from the socket.
    ///
    /// If the connection is [restored](crate::Reconnect), the number of the descriptor stays, but
    /// it is another socket: after [`Processed::Reconnected`](crate::Processed::Reconnected),
    /// register it again. Until then, only [`next_timeout`](Connection::next_timeout) wakes the
    /// program.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.link.socket.as_fd()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("unique_name", &self.name_on_bus()).finish()
    }
}

/// The default time limit of a call, the same as in other bindings.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(25);

/// The number of queued bytes that triggers a send.
pub(crate) const UNSENT_LEN_MAX: usize = 64 * 1024;
