//! The blocking front end: a connection for one thread.
//!
//! A [`Connection`] is a handle; its clones are the same connection. Nothing runs in the
//! background: bytes move when the program calls something that waits. What comes for others
//! meanwhile, signals and calls, is kept until they are asked for.
//!
//! A call takes two system calls, one to send and one to wait for the reply; so does serving one.
//! What is sent without waiting for an answer is queued, and leaves when the program next waits,
//! when 64 KiB have gathered, at [`flush`](Connection::flush), and at the end of the connection.

mod call;
mod connect;
mod object;
mod ownership;
mod proxy;
mod pump;
mod request;
mod socket;
mod subscription;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

pub use call::{CallError, CallOptions, PendingCall, Timeout};
pub use connect::{
    Anonymous, AttemptError, ConnectError, ConnectOptions, FailedAttempt, StandardBus,
};
use object::Objects;
pub use object::{
    ArgTypes, EmitsChange, Interface, InterfaceBuilder, InterfaceError, MethodError, Object,
    ServeError, error_name,
};
pub use ownership::{NameFlags, ReleaseReply, RequestReply};
pub use proxy::Proxy;
use pump::Exchange;
pub use request::Request;
use socket::Socket;
pub use subscription::{IntoRule, SubscribeError, Subscription, SubscriptionError};
use sys::clock;
use wire::guid::Guid;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use wire::sasl::FdPassing;

use crate::core::{Body, CallId, Core, Ended, Filed, Incoming, Outcome, SendError};
use crate::name::{IntoName, InvalidName};

/// A message that came, with its file descriptors.
pub type Received = Incoming<OwnedFd>;

/// A connection to a bus; a handle, whose clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    shared: Rc<Shared>,
}

struct Shared {
    core: RefCell<Core<OwnedFd>>,
    socket: Socket,
    unique_name: Box<str>,
    guid: Option<Guid>,
    call_timeout: Cell<Option<Duration>>,
    taking: Cell<Taking>,
    objects: RefCell<Objects>,
}

/// What the program takes from the connection besides replies and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taking {
    /// Nothing: calls by others are answered as soon as they come, so that nobody waits in vain.
    Nothing,
    /// Calls: it has objects, or asks for calls itself.
    Requests,
    /// Messages as they are: none may be sorted out of its sight.
    Messages,
}

/// What [`Connection::process`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processed {
    /// It answered a call.
    Request,
    /// It put a signal where so many subscriptions will find it.
    Signal {
        /// How many.
        subscriptions: usize,
    },
    /// It put a reply where its call will find it, or dropped what nobody waits for.
    Other,
    /// Nothing came in time.
    Nothing,
}

/// How much [`Connection::flush_within`] sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushed {
    /// All that was queued.
    Whole,
    /// Not all: the bus did not take it in time. What is left is sent when anything next waits.
    InPart,
}

/// What became of waiting.
enum Waited<T> {
    Found(T),
    TimedOut,
    Ended(Ended),
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
    /// Calls a method, and waits for the reply.
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    ///
    /// let bus = Connection::session()?;
    /// let (owner,): (String,) = bus
    ///     .call(
    ///         "org.freedesktop.DBus",
    ///         "/org/freedesktop/DBus",
    ///         "org.freedesktop.DBus",
    ///         "GetNameOwner",
    ///         &("org.example.Player",),
    ///     )?
    ///     .read()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CallError::Remote`] if the callee, or the bus in its place, replied with an error;
    /// [`CallError::TimedOut`] if there was no reply in time; [`CallError::Disconnected`] if the
    /// connection ended; [`CallError::Name`] or [`CallError::Send`] if the call could not be sent.
    pub fn call<'a>(
        &self,
        destination: impl IntoName<BusName<'a>>,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
        arguments: &impl Body,
    ) -> Result<Received, CallError> {
        let message = Builder::method_call(path.into_name()?, member.into_name()?)
            .interface(interface.into_name()?)
            .destination(destination.into_name()?);
        self.start_call(&message, arguments, CallOptions::default())?.wait()
    }

    /// Queues a call, and returns without waiting for the reply; so several can be under way.
    pub fn start_call(
        &self,
        message: &Builder<'_>,
        arguments: &impl Body,
        options: CallOptions,
    ) -> Result<PendingCall, CallError> {
        let timeout = match options.timeout {
            Timeout::OfConnection => self.shared.call_timeout.get(),
            Timeout::After(timeout) => Some(timeout),
            Timeout::Never => None,
        };
        let deadline = deadline(timeout);
        let call =
            |core: &mut Core<_>| core.call(message, arguments, options.descriptors, deadline);
        let id = self.queue(call, || deadline)?;
        Ok(PendingCall::new(self.clone(), id))
    }

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
    ) -> Result<std::num::NonZeroU32, SendError> {
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
        let mut core = self.shared.core.borrow_mut();
        self.shared.flush(&mut core);
        core.ended().map_or(Ok(()), Err)
    }

    /// Sends what is queued, and waits for at most `timeout` while the bus is too busy to take it.
    pub fn flush_within(&self, timeout: Duration) -> Result<Flushed, Ended> {
        let mut core = self.shared.core.borrow_mut();
        self.shared.flush_until(&mut core, deadline(Some(timeout)));
        match core.ended() {
            Some(ended) => Err(ended),
            None if core.waiting_len() > 0 => Ok(Flushed::InPart),
            None => Ok(Flushed::Whole),
        }
    }
}

/// Waiting.
impl Connection {
    /// Waits until one message has come, and does with it what is to be done: answers a call to an
    /// [object](Self::add_object), keeps a signal for its subscriptions, drops what nobody wants.
    ///
    /// Waits for at most `timeout`; zero does what can be done without waiting, `None` waits for
    /// ever. What comes of it is sent when this, or anything else, next waits; before waiting in
    /// some other way, [flush](Self::flush).
    ///
    /// # Errors
    ///
    /// If the connection ended and everything that came before its end was processed, the reason.
    pub fn process(&self, timeout: Option<Duration>) -> Result<Processed, Ended> {
        self.take(Taking::Requests);
        object::announce_untold(self);
        let deadline = deadline(timeout);
        loop {
            let step = |core: &mut Core<OwnedFd>| match core.poll_request() {
                Some(request) => Some(Step::Serve(request)),
                None => core.poll_message().map(Step::Filed),
            };
            match self.wait(deadline, step) {
                Waited::Found(Step::Serve(request)) => {
                    self.serve_request(request);
                    return Ok(Processed::Request);
                }
                Waited::Found(Step::Filed(Filed::Request)) => {}
                Waited::Found(Step::Filed(Filed::Signal { subscriptions })) => {
                    return Ok(Processed::Signal { subscriptions });
                }
                Waited::Found(Step::Filed(_)) => return Ok(Processed::Other),
                Waited::TimedOut => return Ok(Processed::Nothing),
                Waited::Ended(ended) => return Err(ended),
            }
        }
    }

    /// Answers calls to the [objects](Self::add_object) for this long, so that a program can do
    /// something else at an interval. Signals that arrive meanwhile are kept for their
    /// subscriptions.
    ///
    /// # Errors
    ///
    /// If the connection ends, the reason.
    pub fn serve_for(&self, duration: Duration) -> Result<(), Ended> {
        let end = clock::monotonic().saturating_add(duration);
        loop {
            let left = end.saturating_sub(clock::monotonic());
            self.process(Some(left))?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Serves the objects until the connection ends, and returns why it did.
    pub fn serve(&self) -> Ended {
        loop {
            if let Err(ended) = self.process(None) {
                return ended;
            }
        }
    }

    /// Waits for the next call by somebody, which the caller answers itself; objects are not
    /// asked. `None` when none came in time.
    pub fn next_request(&self, timeout: Option<Duration>) -> Result<Option<Request>, Ended> {
        self.take(Taking::Requests);
        let found = self.wait_until(timeout, Core::poll_request)?;
        Ok(found.map(|message| Request::new(self.clone(), message)))
    }

    /// Waits for the next message as it is, whatever it is; nothing else will see it. `None` when
    /// none came in time. This is for monitors and other tools.
    pub fn next_message(&self, timeout: Option<Duration>) -> Result<Option<Received>, Ended> {
        self.take(Taking::Messages);
        self.wait_until(timeout, Core::poll_raw)
    }

    fn wait_until<T>(
        &self,
        timeout: Option<Duration>,
        ready: impl FnMut(&mut Core<OwnedFd>) -> Option<T>,
    ) -> Result<Option<T>, Ended> {
        match self.wait(deadline(timeout), ready) {
            Waited::Found(found) => Ok(Some(found)),
            Waited::TimedOut => Ok(None),
            Waited::Ended(ended) => Err(ended),
        }
    }

    fn wait_for_reply(&self, call: CallId) -> Outcome<OwnedFd> {
        match self.wait(None, |core| core.poll_reply(call)) {
            Waited::Found(outcome) => outcome,
            Waited::TimedOut | Waited::Ended(_) => {
                unreachable!("the core ends the waiting of its calls itself")
            }
        }
    }

    /// Moves and sorts messages until `ready` finds what it looks for.
    fn wait<T>(
        &self,
        deadline: Option<Duration>,
        mut ready: impl FnMut(&mut Core<OwnedFd>) -> Option<T>,
    ) -> Waited<T> {
        let shared = &*self.shared;
        loop {
            let mut core = shared.core.borrow_mut();
            if let Some(found) = ready(&mut core) {
                return Waited::Found(found);
            }
            match core.poll_message() {
                Some(Filed::Request) if shared.taking.get() == Taking::Nothing => {
                    let request = core.poll_request();
                    drop(core);
                    request.into_iter().for_each(|request| self.serve_request(request));
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            if let Some(ended) = core.ended() {
                return ready(&mut core).map_or(Waited::Ended(ended), Waited::Found);
            }
            if let Exchange::TimedOut = shared.exchange(&mut core, deadline) {
                return Waited::TimedOut;
            }
        }
    }
}

/// What the modules here share.
impl Connection {
    fn core<T>(&self, look: impl FnOnce(&mut Core<OwnedFd>) -> T) -> T {
        look(&mut self.shared.core.borrow_mut())
    }

    /// Queues something, and sends it if much has gathered; waits for the bus to take it until the
    /// deadline, behind which it stays queued.
    fn queue<T>(
        &self,
        queue: impl FnOnce(&mut Core<OwnedFd>) -> Result<T, SendError>,
        deadline: impl FnOnce() -> Option<Duration>,
    ) -> Result<T, SendError> {
        let mut core = self.shared.core.borrow_mut();
        let queued = queue(&mut core)?;
        if core.waiting_len() >= GATHERED_MAX {
            self.shared.flush_until(&mut core, deadline());
        }
        Ok(queued)
    }

    /// Until when what nobody answers waits for a bus that is too busy: as long as a call would.
    fn send_deadline(&self) -> Option<Duration> {
        deadline(self.shared.call_timeout.get())
    }

    fn take(&self, more: Taking) {
        if self.shared.taking.get() != Taking::Messages {
            self.shared.taking.set(more);
        }
    }

    fn serve_request(&self, message: Received) {
        object::serve(Request::new(self.clone(), message));
        object::announce_untold(self);
    }
}

impl AsFd for Connection {
    /// The socket, to be watched together with others. It is readable when a message may have
    /// come; then [`process`](Connection::process) without waiting until nothing is left. Watch it
    /// only after [`flush`](Connection::flush), and do not read from it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.socket.as_fd()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("unique_name", &self.shared.unique_name).finish()
    }
}

/// What [`Connection::process`] found.
enum Step {
    Serve(Received),
    Filed(Filed),
}

/// Why a signal was not queued.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// A text is not the name that it should be.
    Name(InvalidName),
    /// The signal was not queued.
    Send(SendError),
}

impl From<InvalidName> for EmitError {
    fn from(error: InvalidName) -> Self {
        Self::Name(error)
    }
}

impl From<SendError> for EmitError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EmitError {}

fn deadline(timeout: Option<Duration>) -> Option<Duration> {
    timeout.map(|timeout| clock::monotonic().saturating_add(timeout))
}

/// How long a call waits for its reply if nothing else is said: as long as in other bindings.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(25);

/// Bytes that are sent without waiting for more.
const GATHERED_MAX: usize = 64 * 1024;
