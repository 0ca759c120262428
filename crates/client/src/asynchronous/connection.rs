//! The connection handle: sending, waiting for messages, and serving objects.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use wire::guid::Guid;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath, WellKnownName};
use wire::sasl::FdPassing;

use super::call::StartedCall;
use super::proxy::Proxy;
use super::subscription::StartedSubscription;
use super::tasks::ConnectionTasks;
use super::waiting::WaitingPlace;
use crate::blocking;
use crate::core::{ConnectionCounters, Ended, LaneUse, MessageBody, Reconnection, SendError};
use crate::driver;
use crate::link::{LinkState, ReadMode, ReceivedMessage, WaitTarget, WaiterId};
use crate::{
    CallError, CallOptions, EmitError, IncomingCall, IntoName, IntoRule, InvalidName, NameFlags,
    Object, Processed, ReleaseReply, RequestReply, ServeError, ServedInterface, ServedObject,
    SubscribeError, SubscriptionError,
};

/// A connection to a bus, or to a [peer](Self::open_peer), for the tasks of an async runtime. This
/// is a handle: clones refer to the same connection, also in other tasks. A task that waits does
/// not delay others.
#[derive(Clone)]
pub struct Connection {
    tasks: Arc<ConnectionTasks>,
    inner: blocking::Connection,
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
        self.inner.unique_name()
    }

    /// The unique name of this connection; `None` on a connection to a [peer](Self::open_peer)
    /// without a bus.
    pub fn name_on_bus(&self) -> Option<BusName<'_>> {
        self.inner.name_on_bus()
    }

    /// The GUID of the bus's address; `None` if the bus sent no valid one.
    pub fn server_guid(&self) -> Option<Guid> {
        self.inner.server_guid()
    }

    /// Whether messages can carry file descriptors.
    pub fn fds(&self) -> FdPassing {
        self.inner.fds()
    }

    /// The reason why the connection ended. The end is detected when bytes are sent or received.
    pub fn ended(&self) -> Option<Ended> {
        self.inner.ended()
    }

    /// How often the connection dropped or refused a message, since it was opened.
    pub fn counters(&self) -> ConnectionCounters {
        self.inner.counters()
    }

    /// Sets whether messages to partners with which this connection exchanges many travel on lanes;
    /// see [`Connection::set_lane_use`](crate::Connection::set_lane_use).
    ///
    /// # Errors
    ///
    /// If this process or the system has no descriptors left to wait for lanes. Then the connection
    /// continues without them.
    pub fn set_lane_use(&self, lane_use: LaneUse) -> io::Result<()> {
        if lane_use == LaneUse::On && self.name_on_bus().is_some() {
            self.tasks.watch_lanes(self.inner.incoming_descriptor()?)?;
            // It waits for the socket of the bus only.
            self.inner.link().lock().wake_driver();
        }
        self.inner.set_lane_use(lane_use);
        Ok(())
    }

    /// Number of lanes that the connection can send on now.
    pub fn lane_count(&self) -> usize {
        self.inner.lane_count()
    }

    /// Sets how long calls without a timeout of their own wait for their replies; `None` means
    /// forever. The default is [`CALL_TIMEOUT`](crate::CALL_TIMEOUT).
    pub fn set_call_timeout(&self, timeout: Option<Duration>) {
        self.inner.set_call_timeout(timeout);
    }
}

/// Connecting again after the bus went away.
impl Connection {
    /// Waits until the connection was [restored](crate::Reconnect) after the bus went away, and
    /// returns the report. Each report is returned once.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub async fn next_reconnection(&self) -> Result<Reconnection, Ended> {
        self.wait(WaitTarget::Reconnection, |state| state.core.poll_reconnection()).await
    }
}

/// Methods that send messages, or prepare to receive them.
impl Connection {
    /// Calls a method. The returned future waits for the reply; the call is queued already.
    ///
    /// # Errors
    ///
    /// The future has the errors of [`Connection::call`](crate::Connection::call).
    pub fn call<'a>(
        &self,
        destination: impl IntoName<BusName<'a>>,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
        arguments: &impl MessageBody,
    ) -> StartedCall {
        let call = || {
            let message = Builder::method_call(path.into_name()?, member.into_name()?)
                .interface(interface.into_name()?)
                .destination(destination.into_name()?);
            self.inner.start_call(&message, arguments, CallOptions::default())
        };
        StartedCall::new(self.clone(), call())
    }

    /// Sends a call with options. The returned future waits for the reply.
    ///
    /// # Errors
    ///
    /// The future has the errors of [`Connection::call`](crate::Connection::call).
    pub fn start_call(
        &self,
        message: &Builder<'_>,
        arguments: &impl MessageBody,
        options: CallOptions,
    ) -> StartedCall {
        StartedCall::new(self.clone(), self.inner.start_call(message, arguments, options))
    }

    /// Queues a signal; see [when messages leave](crate#when-messages-leave). Waits while too much
    /// is queued.
    ///
    /// # Errors
    ///
    /// [`EmitError::Name`] if one of the names is malformed; [`EmitError::Send`] if the arguments
    /// cannot be encoded, or the connection ended.
    pub async fn emit<'a>(
        &self,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        let (path, interface) = (path.into_name()?, interface.into_name()?);
        let message = Builder::signal(path, interface, member.into_name()?);
        self.send(&message, arguments, Vec::new()).await?;
        Ok(())
    }

    /// Queues a message of any type, and returns its serial. A reply to it is ignored. Waits while
    /// too much is queued.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded, its descriptors cannot be passed, or the connection ended.
    pub async fn send(
        &self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<NonZeroU32, SendError> {
        let serial = self.inner.send(message, body, descriptors)?;
        self.wait_for_room(blocking::UNSENT_LEN_MAX).await.map_err(SendError::Disconnected)?;
        Ok(serial)
    }

    /// Queues the bytes of complete messages, for programs that encode messages themselves. Waits
    /// while too much is queued.
    ///
    /// # Errors
    ///
    /// If the connection ended.
    pub async fn send_bytes(&self, messages: &[u8]) -> Result<(), SendError> {
        self.inner.send_bytes(messages)?;
        self.wait_for_room(blocking::UNSENT_LEN_MAX).await.map_err(SendError::Disconnected)
    }

    /// Sends all queued bytes, and waits while the bus does not read them.
    ///
    /// # Errors
    ///
    /// If the connection ended, the reason.
    pub async fn flush(&self) -> Result<(), Ended> {
        self.wait_for_room(1).await
    }

    /// Waits until fewer bytes than this are queued.
    async fn wait_for_room(&self, below: usize) -> Result<(), Ended> {
        if self.inner.core(|core| core.ended().is_none() && core.waiting_len() < below) {
            return Ok(());
        }
        let is_sent = |state: &mut LinkState| {
            let has_room = state.core.ended().is_none() && state.core.waiting_len() < below;
            has_room.then_some(())
        };
        self.wait(WaitTarget::Room, is_sent).await
    }

    /// Subscribes to the signals that a match rule selects; see
    /// [`Connection::subscribe`](crate::Connection::subscribe). The returned future waits until the
    /// bus has confirmed the rule. The rule is queued already: it leaves in one write with the next
    /// message, and takes effect before it.
    ///
    /// So a program misses no signal of an object that a call creates or starts:
    ///
    /// ```no_run
    /// # async fn example(bus: diligence_client::asynchronous::Connection)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let printer = bus.proxy("org.example.Printer", "/org/example/Printer", "org.example.Printer")?;
    /// let finished = bus.subscribe("sender='org.example.Printer',interface='org.example.Job'");
    /// let (job,): (String,) = printer.call("Print", &("a page",)).await?.read()?;
    /// let finished = finished.await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The future fails with [`SubscribeError::Rule`] if the text is malformed, with
    /// [`SubscribeError::NotSignals`] if the rule is for another type of message, and with
    /// [`SubscribeError::Call`] if the bus refused the rule, did not reply in time, or closed the
    /// connection.
    pub fn subscribe(&self, rule: impl IntoRule) -> StartedSubscription {
        StartedSubscription::new(self, self.inner.start_subscription(rule))
    }

    /// The same as [`subscribe`](Self::subscribe), by the name of the blocking front end.
    ///
    /// # Errors
    ///
    /// As for [`subscribe`](Self::subscribe).
    pub fn start_subscription(&self, rule: impl IntoRule) -> StartedSubscription {
        self.subscribe(rule)
    }

    /// Subscribes to one signal of one object path, from any sender. The rule is queued already.
    ///
    /// # Errors
    ///
    /// [`SubscribeError::Name`] if one of the names is malformed; otherwise as for
    /// [`subscribe`](Self::subscribe).
    pub fn subscribe_to<'a>(
        &self,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
    ) -> StartedSubscription {
        let rule = blocking::signal_rule(path, interface, member);
        let start = |rule: String| self.inner.start_subscription(rule.as_str());
        StartedSubscription::new(self, rule.map_err(SubscribeError::Name).and_then(start))
    }

    /// Creates a proxy for an interface of an object of the [peer](Self::open_peer) at the other
    /// end. This sends no message.
    ///
    /// # Errors
    ///
    /// If one of the names is malformed. The existence of the object is not checked.
    pub fn peer_proxy<'n>(
        &self,
        path: impl IntoName<ObjectPath<'n>>,
        interface: impl IntoName<InterfaceName<'n>>,
    ) -> Result<Proxy<'n>, InvalidName> {
        Ok(Proxy::new(self.clone(), self.inner.peer_proxy(path, interface)?))
    }

    /// Creates a proxy for an interface of an object. This sends no message.
    ///
    /// # Errors
    ///
    /// If one of the names is malformed. The existence of the object is not checked.
    pub fn proxy<'n>(
        &self,
        destination: impl IntoName<BusName<'n>>,
        path: impl IntoName<ObjectPath<'n>>,
        interface: impl IntoName<InterfaceName<'n>>,
    ) -> Result<Proxy<'n>, InvalidName> {
        Ok(Proxy::new(self.clone(), self.inner.proxy(destination, path, interface)?))
    }
}

/// Methods about well-known names.
impl Connection {
    /// Requests a name from the bus (`RequestName`).
    ///
    /// # Errors
    ///
    /// As for [`Connection::request_name`](crate::Connection::request_name).
    pub async fn request_name<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
        flags: NameFlags,
    ) -> Result<RequestReply, CallError> {
        let name = name.into_name()?;
        let arguments = (name, flags.bits());
        let (reply,) = self.call_driver(driver::REQUEST_NAME, &arguments).await?.read()?;
        self.inner.remember_name(name, flags, reply);
        Ok(reply)
    }

    /// Releases a name, or leaves its queue (`ReleaseName`).
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub async fn release_name<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
    ) -> Result<ReleaseReply, CallError> {
        let name = name.into_name()?;
        self.inner.core(|core| core.forget_name(name.as_str()));
        let (reply,) = self.call_driver(driver::RELEASE_NAME, &(name,)).await?.read()?;
        Ok(reply)
    }

    /// Waits until a connection owns `name`. This does not start a service.
    ///
    /// # Errors
    ///
    /// As for [`subscribe`](Self::subscribe): the wait is a subscription to `NameOwnerChanged`.
    pub async fn wait_for_owner<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
    ) -> Result<(), SubscribeError> {
        let name = name.into_name()?;
        let changes = self.subscribe(blocking::owner_rule(name).as_str()).await?;
        loop {
            // Only after the subscription, so that no change is missed in between.
            let reply = self.call_driver(driver::NAME_HAS_OWNER, &(name,)).await?;
            let (owned,) = reply.read().map_err(CallError::from)?;
            if owned {
                return Ok(());
            }
            match changes.next().await {
                Ok(_) | Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
                Err(SubscriptionError::Disconnected(ended)) => {
                    return Err(CallError::Disconnected(ended).into());
                }
            }
        }
    }

    fn call_driver(&self, member: MemberName<'_>, arguments: &impl MessageBody) -> StartedCall {
        match self.inner.core(|core| core.check_bus()) {
            Ok(()) => self.start_call(&driver::method(member), arguments, CallOptions::default()),
            Err(no_bus) => StartedCall::new(self.clone(), Err(no_bus.into())),
        }
    }
}

/// Serving objects, and reading messages.
impl Connection {
    /// Serves `interface` at `path`, for an object with this state; see
    /// [`Connection::add_object`](crate::Connection::add_object).
    ///
    /// # Errors
    ///
    /// [`ServeError::Name`] if the path is malformed; [`ServeError::Taken`] if the object already
    /// has an interface of this name.
    pub fn add_object<'p, S: Send + 'static>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
        interface: &ServedInterface<S>,
        state: S,
    ) -> Result<Object<S>, ServeError> {
        self.inner.add_object(path, interface, state)
    }

    /// Serves an object whose type defines its interface; see
    /// [`Connection::export`](crate::Connection::export).
    ///
    /// # Errors
    ///
    /// As for [`add_object`](Self::add_object), and [`ServeError::Interface`].
    pub fn export<'p, S: ServedObject>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
        state: S,
    ) -> Result<Object<S>, ServeError> {
        self.inner.export(path, state)
    }

    /// Gives the object at `path` the interface `org.freedesktop.DBus.ObjectManager`.
    ///
    /// # Errors
    ///
    /// If the path is malformed.
    pub fn add_object_manager<'p>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
    ) -> Result<(), InvalidName> {
        self.inner.add_object_manager(path)
    }

    /// Serves the objects until the connection ends, and returns the reason. Other tasks can use
    /// the connection meanwhile.
    pub async fn serve(&self) -> Ended {
        self.inner.set_read_mode(ReadMode::Requests);
        loop {
            match self.wait_for_request().await {
                Ok(request) => self.inner.serve_request(request),
                Err(ended) => return ended,
            }
        }
    }

    /// Waits for the next call, which the program answers itself; the call is not dispatched to
    /// objects.
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier calls were taken, the reason.
    pub async fn next_request(&self) -> Result<IncomingCall, Ended> {
        self.inner.set_read_mode(ReadMode::Requests);
        let message = self.wait_for_request().await?;
        Ok(IncomingCall::new(self.inner.clone(), message))
    }

    async fn wait_for_request(&self) -> Result<ReceivedMessage, Ended> {
        self.wait(WaitTarget::Request, |state| self.inner.link().take_request(state)).await
    }

    /// Waits for the next message of any type, without processing it. This is for monitors and
    /// other tools.
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier messages were taken, the reason.
    pub async fn next_message(&self) -> Result<ReceivedMessage, Ended> {
        self.inner.set_read_mode(ReadMode::Messages);
        self.wait(WaitTarget::Message, |state| state.core.poll_raw()).await
    }

    /// Waits for one message and processes it: answers a call to an [object](Self::add_object),
    /// queues a signal for its subscriptions, or drops a message without a recipient in this
    /// program.
    ///
    /// This never returns [`Processed::Nothing`]. Answers are sent when this or another method next
    /// waits.
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier messages were processed, the reason.
    pub async fn process(&self) -> Result<Processed, Ended> {
        self.inner.begin_processing();
        let step = self.wait(WaitTarget::Message, |state| self.inner.take_step(state)).await?;
        Ok(self.inner.finish_step(step))
    }
}

/// Helpers for the modules of the front end.
impl Connection {
    pub(super) const fn inner(&self) -> &blocking::Connection {
        &self.inner
    }

    pub(super) fn new(tasks: ConnectionTasks, inner: blocking::Connection) -> Self {
        inner.leave_sending_to_tasks();
        Self { tasks: Arc::new(tasks), inner }
    }

    /// Waits in a task until `ready` returns a value. When the task does not wait any more, call
    /// [`stop_waiting`](Self::stop_waiting).
    pub(super) fn poll<T>(
        &self,
        context: &mut Context<'_>,
        target: WaitTarget,
        waiter: &mut Option<WaiterId>,
        ready: &mut impl FnMut(&mut LinkState) -> Option<T>,
    ) -> Poll<Result<T, Ended>> {
        let place = WaitingPlace { link: self.inner.link(), tasks: &self.tasks, target };
        place.poll(context, waiter, ready, &mut |request| self.inner.serve_request(request))
    }

    pub(super) fn stop_waiting(&self, waiter: Option<WaiterId>) {
        if let Some(waiter) = waiter {
            self.inner.link().lock().remove_task(waiter);
        }
    }

    pub(super) async fn wait<T>(
        &self,
        target: WaitTarget,
        mut ready: impl FnMut(&mut LinkState) -> Option<T>,
    ) -> Result<T, Ended> {
        let mut task = WaitingTask { connection: self, waiter: None };
        poll_fn(|context| self.poll(context, target, &mut task.waiter, &mut ready)).await
    }
}

/// A task that waits. When its future ends or is dropped, another task reads.
struct WaitingTask<'c> {
    connection: &'c Connection,
    waiter: Option<WaiterId>,
}

impl Drop for WaitingTask<'_> {
    fn drop(&mut self) {
        self.connection.stop_waiting(self.waiter);
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("unique_name", &self.name_on_bus()).finish()
    }
}
