//! Calls of methods, their options and their outcomes.

use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::time::Duration;

use unix::clock;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use super::connection::{Connection, Departure};
use super::error::CallError;
use crate::core::{CallDeadline, CallHandle, CalledMethod, Core, MessageBody};
use crate::link::ReceivedMessage;
use crate::name::IntoName;

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
        arguments: &impl MessageBody,
    ) -> Result<ReceivedMessage, CallError> {
        let message = Builder::method_call(path.into_name()?, member.into_name()?)
            .interface(interface.into_name()?)
            .destination(destination.into_name()?);
        self.call_method(&message, arguments)
    }

    /// Sends a call with the default options, and waits for the reply.
    pub(super) fn call_method(
        &self,
        message: &Builder<'_>,
        arguments: &impl MessageBody,
    ) -> Result<ReceivedMessage, CallError> {
        let now = clock::monotonic();
        let deadline = self.call_timeout().map(|limit| CallDeadline::after(now, limit));
        let mut state = self.lock();
        let call = state.core.call(message, arguments, Vec::new(), deadline)?;
        state.send_on_lane(Some(now));
        // The rest is sent while this thread waits for the reply.
        self.link().send(&mut state);
        self.wait_for_reply(state, call, Some(now))
            .map_err(|reason| CallError::failed(reason, CalledMethod::of(message)))
    }

    /// Sends a call, and returns without waiting for the reply, so several calls can be pending.
    /// Everything that was queued before leaves with it, in one write.
    ///
    /// # Errors
    ///
    /// [`CallError::Send`] if the message cannot be encoded or its descriptors cannot be passed;
    /// [`CallError::Disconnected`] if the connection ended.
    pub fn start_call(
        &self,
        message: &Builder<'_>,
        arguments: &impl MessageBody,
        options: CallOptions,
    ) -> Result<StartedCall, CallError> {
        let limit = match options.timeout {
            Timeout::OfConnection => self.call_timeout(),
            Timeout::After(limit) => Some(limit),
            Timeout::Never => None,
        };
        let deadline = call_deadline(limit);
        let call =
            |core: &mut Core<_>| core.call(message, arguments, options.descriptors, deadline);
        let id = self.queue(Departure::AtOnce, call, || deadline.map(|deadline| deadline.at))?;
        Ok(StartedCall::new(self.clone(), id, CalledMethod::of(message)))
    }
}

/// The deadline of a call that is queued now.
pub(super) fn call_deadline(limit: Option<Duration>) -> Option<CallDeadline> {
    limit.map(|limit| CallDeadline::after(clock::monotonic(), limit))
}

/// The options of one call.
#[derive(Debug, Default)]
pub struct CallOptions {
    /// The time limit for the reply.
    pub timeout: Timeout,
    /// The descriptors to pass. The body refers to them as [`UnixFd`](wire::body::UnixFd), by their
    /// index from 0.
    pub descriptors: Vec<OwnedFd>,
}

/// The time limit for a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timeout {
    /// The default of the connection; see [`Connection::set_call_timeout`].
    #[default]
    OfConnection,
    /// This long, from the moment the call is started.
    After(Duration),
    /// No limit: the call waits until it is answered or the connection ends.
    Never,
}

impl From<Duration> for Timeout {
    fn from(timeout: Duration) -> Self {
        Self::After(timeout)
    }
}

/// A call whose reply is pending. Dropping it abandons the call: the reply will be ignored.
#[derive(Debug)]
#[must_use = "a call that is dropped is given up"]
pub struct StartedCall {
    connection: Connection,
    id: CallHandle,
    /// The called method, for errors.
    method: CalledMethod,
    state: ReplyState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReplyState {
    Waiting,
    /// The outcome was taken.
    Over,
}

impl StartedCall {
    pub(super) const fn new(connection: Connection, id: CallHandle, method: CalledMethod) -> Self {
        Self { connection, id, method, state: ReplyState::Waiting }
    }

    /// The same call, whose errors name this method or property.
    pub(super) fn about(mut self, method: CalledMethod) -> Self {
        self.method = method;
        self
    }

    /// The serial of the call, which identifies it in a recording.
    pub fn serial(&self) -> NonZeroU32 {
        self.id.serial()
    }

    pub(crate) const fn handle(&self) -> CallHandle {
        self.id
    }

    /// Waits for the reply.
    ///
    /// # Errors
    ///
    /// As for [`Connection::call`].
    ///
    /// # Panics
    ///
    /// When [`poll`](Self::poll) has taken the outcome.
    pub fn wait(mut self) -> Result<ReceivedMessage, CallError> {
        let found = self.connection.wait_for_reply(self.connection.lock(), self.id, None);
        self.state = ReplyState::Over;
        found.map_err(|reason| CallError::failed(reason, self.method.clone()))
    }

    /// The outcome, if it has been received; this does not read from the socket. For programs that
    /// wait in [`process`](Connection::process) or in their own event loop.
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
    pub fn poll(&mut self) -> Option<Result<ReceivedMessage, CallError>> {
        let connection = self.connection.clone();
        connection.core(|core| self.take(core))
    }

    /// Takes the outcome from the locked core.
    pub(crate) fn take(
        &mut self,
        core: &mut Core<OwnedFd>,
    ) -> Option<Result<ReceivedMessage, CallError>> {
        let found = core.poll_result(self.id)?;
        self.state = ReplyState::Over;
        Some(found.map_err(|reason| CallError::failed(reason, self.method.clone())))
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        if self.state == ReplyState::Waiting {
            self.connection.core(|core| core.forget(self.id));
        }
    }
}
