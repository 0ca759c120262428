//! A handle to a connection: what it is, and what it sends.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::fmt;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use sys::clock;
use wire::guid::Guid;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use wire::sasl::FdPassing;

use super::error::EmitError;
use super::link::{ConnectionLink, ReadMode, deadline};
use super::object::ServedObjects;
use super::socket::BusSocket;
use crate::core::{Core, Ended, Established, MessageBody, SendError};
use crate::name::IntoName;

/// A connection to a bus; a handle, whose clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    pub(super) shared: Rc<Shared>,
}

pub(super) struct Shared {
    pub(super) link: ConnectionLink,
    unique_name: Box<str>,
    guid: Option<Guid>,
    pub(super) call_timeout: Cell<Option<Duration>>,
    objects: RefCell<ServedObjects>,
}

/// How much [`Connection::flush_within`] sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushed {
    /// All queued bytes.
    Whole,
    /// Not all: the bus did not read in time. The rest is sent when a method next waits.
    InPart,
}

/// What the connection is.
impl Connection {
    /// The name that the bus gave to this connection.
    pub fn unique_name(&self) -> BusName<'_> {
        BusName::new(&self.shared.unique_name).expect("it was checked when the bus gave it")
    }

    /// The GUID of the address at which the bus listens; `None` if the bus sent no valid one.
    pub fn server_guid(&self) -> Option<Guid> {
        self.shared.guid
    }

    /// Whether messages can carry file descriptors.
    pub fn fds(&self) -> FdPassing {
        self.core(|core| core.fds())
    }

    /// Why the connection ended. An end is noticed when bytes are sent or received.
    pub fn ended(&self) -> Option<Ended> {
        self.core(|core| core.ended())
    }

    /// The time until the next call times out, for programs with an event loop of their own: then
    /// [`process`](Self::process) has work to do. `None` if no pending call has a time limit.
    pub fn next_timeout(&self) -> Option<Duration> {
        let next = self.core(|core| core.next_timeout())?;
        Some(next.saturating_sub(clock::monotonic()))
    }

    /// Sets how long calls without a timeout of their own wait for their replies; `None` means
    /// forever. The default is [`CALL_TIMEOUT`].
    pub fn set_call_timeout(&self, timeout: Option<Duration>) {
        self.shared.call_timeout.set(timeout);
    }
}

/// Sending.
impl Connection {
    /// Queues a signal.
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

    /// Queues a message of any type, and returns its serial. A reply to it is ignored.
    pub fn send(
        &self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<NonZeroU32, SendError> {
        self.queue(|core| core.send(message, body, descriptors), || self.send_deadline())
    }

    /// Queues the bytes of whole messages, for programs that encode messages themselves.
    pub fn send_bytes(&self, messages: &[u8]) -> Result<(), SendError> {
        self.queue(|core| core.send_bytes(messages), || self.send_deadline())
    }

    /// Sends all queued bytes, and waits while the bus does not read them.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub fn flush(&self) -> Result<(), Ended> {
        let mut core = self.shared.link.core.borrow_mut();
        self.shared.link.flush(&mut core);
        core.ended().map_or(Ok(()), Err)
    }

    /// Sends all queued bytes, and waits for at most `timeout` while the bus does not read them.
    pub fn flush_within(&self, timeout: Duration) -> Result<Flushed, Ended> {
        let mut core = self.shared.link.core.borrow_mut();
        self.shared.link.flush_until(&mut core, deadline(Some(timeout)));
        match core.ended() {
            Some(ended) => Err(ended),
            None if core.waiting_len() > 0 => Ok(Flushed::InPart),
            None => Ok(Flushed::Whole),
        }
    }
}

/// Helpers of the modules of the front end.
impl Connection {
    pub(super) fn core<T>(&self, look: impl FnOnce(&mut Core<OwnedFd>) -> T) -> T {
        look(&mut self.shared.link.core.borrow_mut())
    }

    /// Calls `queue`, and sends the queued bytes if they are many. If the bus does not read them
    /// before the deadline, they stay queued.
    pub(super) fn queue<T>(
        &self,
        queue: impl FnOnce(&mut Core<OwnedFd>) -> Result<T, SendError>,
        deadline: impl FnOnce() -> Option<Duration>,
    ) -> Result<T, SendError> {
        let mut core = self.shared.link.core.borrow_mut();
        let queued = queue(&mut core)?;
        if core.waiting_len() >= UNSENT_LEN_MAX {
            self.shared.link.flush_until(&mut core, deadline());
        }
        Ok(queued)
    }

    /// How long sending a message without a reply waits for the bus to read: as long as a call would.
    fn send_deadline(&self) -> Option<Duration> {
        deadline(self.shared.call_timeout.get())
    }

    pub(super) fn set_read_mode(&self, mode: ReadMode) {
        let read_mode = &self.shared.link.read_mode;
        if read_mode.get() != ReadMode::Messages {
            read_mode.set(mode);
        }
    }

    pub(super) fn objects(&self) -> Ref<'_, ServedObjects> {
        self.shared.objects.borrow()
    }

    pub(super) fn objects_mut(&self) -> RefMut<'_, ServedObjects> {
        self.shared.objects.borrow_mut()
    }

    pub(super) fn new(established: Established<OwnedFd>, socket: BusSocket) -> Self {
        let Established { core, unique_name, guid } = established;
        let link = ConnectionLink::new(core, socket);
        let call_timeout = Cell::new(Some(CALL_TIMEOUT));
        let objects = RefCell::default();
        Self { shared: Rc::new(Shared { link, unique_name, guid, call_timeout, objects }) }
    }
}

impl AsFd for Connection {
    /// The socket, for an event loop. It is readable when a message may have arrived; then call
    /// [`process`](Connection::process) without waiting until no message is left. Call
    /// [`flush`](Connection::flush) before each wait, and do not read from the socket.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.link.socket.as_fd()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("unique_name", &self.shared.unique_name).finish()
    }
}

/// The default time limit of a call, the same as in other bindings.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(25);

/// The number of queued bytes above which they are sent at once.
const UNSENT_LEN_MAX: usize = 64 * 1024;
