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
use super::link::{Link, Taking, deadline};
use super::object::Objects;
use super::socket::Socket;
use crate::core::{Body, Core, Ended, Established, SendError};
use crate::name::IntoName;

/// A connection to a bus; a handle, whose clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    pub(super) shared: Rc<Shared>,
}

pub(super) struct Shared {
    pub(super) link: Link,
    unique_name: Box<str>,
    guid: Option<Guid>,
    pub(super) call_timeout: Cell<Option<Duration>>,
    objects: RefCell<Objects>,
}

/// How much [`Connection::flush_within`] sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushed {
    /// All that was queued.
    Whole,
    /// Not all: the bus did not take it in time. What is left is sent when anything next waits.
    InPart,
}

/// What the connection is.
impl Connection {
    /// The name that the bus gave to this connection.
    pub fn unique_name(&self) -> BusName<'_> {
        BusName::new(&self.shared.unique_name).expect("it was checked when the bus gave it")
    }

    /// The GUID of the address at which the bus listens; `None` if what it told is none.
    pub fn server_guid(&self) -> Option<Guid> {
        self.shared.guid
    }

    /// Whether messages can carry file descriptors.
    pub fn fds(&self) -> FdPassing {
        self.core(|core| core.fds())
    }

    /// Why the connection is over, as far as is known; it is learnt when bytes are moved.
    pub fn ended(&self) -> Option<Ended> {
        self.core(|core| core.ended())
    }

    /// How long it is until the patience of a call ends, for programs that wait in a loop of their
    /// own: then [`process`](Self::process) has something to do. `None` when none can.
    pub fn next_timeout(&self) -> Option<Duration> {
        let next = self.core(|core| core.next_timeout())?;
        Some(next.saturating_sub(clock::monotonic()))
    }

    /// How long calls wait for their replies, unless they say otherwise; `None` is for ever. At
    /// first it is [`CALL_TIMEOUT`].
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
        arguments: &impl Body,
    ) -> Result<(), EmitError> {
        let (path, interface) = (path.into_name()?, interface.into_name()?);
        let message = Builder::signal(path, interface, member.into_name()?);
        self.send(&message, arguments, Vec::new())?;
        Ok(())
    }

    /// Queues any message, and returns its serial. A reply to it will be ignored.
    pub fn send(
        &self,
        message: &Builder<'_>,
        body: &impl Body,
        descriptors: Vec<OwnedFd>,
    ) -> Result<NonZeroU32, SendError> {
        self.queue(|core| core.send(message, body, descriptors), || self.send_deadline())
    }

    /// Queues bytes that are whole messages already, for programs that make their own.
    pub fn send_bytes(&self, messages: &[u8]) -> Result<(), SendError> {
        self.queue(|core| core.send_bytes(messages), || self.send_deadline())
    }

    /// Sends what is queued, and waits while the bus is too busy to take it.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub fn flush(&self) -> Result<(), Ended> {
        let mut core = self.shared.link.core.borrow_mut();
        self.shared.link.flush(&mut core);
        core.ended().map_or(Ok(()), Err)
    }

    /// Sends what is queued, and waits for at most `timeout` while the bus is too busy to take it.
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

/// What the modules here share.
impl Connection {
    pub(super) fn core<T>(&self, look: impl FnOnce(&mut Core<OwnedFd>) -> T) -> T {
        look(&mut self.shared.link.core.borrow_mut())
    }

    /// Queues something, and sends it if much has gathered; waits for the bus to take it until the
    /// deadline, behind which it stays queued.
    pub(super) fn queue<T>(
        &self,
        queue: impl FnOnce(&mut Core<OwnedFd>) -> Result<T, SendError>,
        deadline: impl FnOnce() -> Option<Duration>,
    ) -> Result<T, SendError> {
        let mut core = self.shared.link.core.borrow_mut();
        let queued = queue(&mut core)?;
        if core.waiting_len() >= GATHERED_MAX {
            self.shared.link.flush_until(&mut core, deadline());
        }
        Ok(queued)
    }

    /// Until when what nobody answers waits for a bus that is too busy: as long as a call would.
    fn send_deadline(&self) -> Option<Duration> {
        deadline(self.shared.call_timeout.get())
    }

    pub(super) fn take(&self, more: Taking) {
        let taking = &self.shared.link.taking;
        if taking.get() != Taking::Messages {
            taking.set(more);
        }
    }

    pub(super) fn objects(&self) -> Ref<'_, Objects> {
        self.shared.objects.borrow()
    }

    pub(super) fn objects_mut(&self) -> RefMut<'_, Objects> {
        self.shared.objects.borrow_mut()
    }

    pub(super) fn new(established: Established<OwnedFd>, socket: Socket) -> Self {
        let Established { core, unique_name, guid } = established;
        let link = Link::new(core, socket);
        let call_timeout = Cell::new(Some(CALL_TIMEOUT));
        let objects = RefCell::default();
        Self { shared: Rc::new(Shared { link, unique_name, guid, call_timeout, objects }) }
    }
}

impl AsFd for Connection {
    /// The socket, to be watched together with others. It is readable when a message may have
    /// come; then [`process`](Connection::process) without waiting until nothing is left. Watch it
    /// only after [`flush`](Connection::flush), and do not read from it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.link.socket.as_fd()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("unique_name", &self.shared.unique_name).finish()
    }
}

/// How long a call waits for its reply if nothing else is said: as long as in other bindings.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(25);

/// Bytes that are sent without waiting for more.
const GATHERED_MAX: usize = 64 * 1024;
