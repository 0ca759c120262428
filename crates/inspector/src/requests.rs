//! Sends many requests at the same time, with a timeout for each reply and one for all.

use std::collections::VecDeque;
use std::time::Duration;

use client::{CallError, CallOptions, Connection, IntoName, ReceivedMessage, StartedCall, Timeout};
use serde::{Deserialize, Serialize};
use sys::clock;
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::failure::InspectorFailure;

/// How long an inspector waits for replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InspectorTimeouts {
    /// The timeout of a single reply.
    pub reply: Duration,
    /// The time limit for all requests of one inspection.
    pub total: Duration,
}

impl Default for InspectorTimeouts {
    /// A reply may take 5 s, and an inspection 15 s.
    fn default() -> Self {
        Self { reply: Duration::from_secs(5), total: Duration::from_secs(15) }
    }
}

/// Controls whether the bus may start a service that does not run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Starting {
    /// The service is not started, so that an inspection has no side effects.
    #[default]
    Never,
    /// The bus may start the service.
    Allowed,
}

impl Starting {
    /// Returns the message flags for this choice.
    pub(crate) const fn flags(self) -> Flags {
        match self {
            Self::Never => Flags::NO_AUTO_START,
            Self::Allowed => Flags::NONE,
        }
    }
}

/// A request that is sent as a method call.
pub(crate) trait InspectorRequest {
    /// Queues the method call.
    fn start(&self, connection: &Connection, timeout: Duration) -> Result<StartedCall, CallError>;
}

/// Requests of one kind, several of which are in flight.
pub(crate) struct RequestBatch<'c, Q> {
    connection: &'c Connection,
    timeouts: InspectorTimeouts,
    at_once: usize,
    /// Time of the monotonic clock at which no more requests are sent.
    deadline: Duration,
    waiting: VecDeque<Q>,
    pending: Vec<PendingReply<Q>>,
}

struct PendingReply<Q> {
    request: Q,
    call: StartedCall,
}

impl<'c, Q: InspectorRequest> RequestBatch<'c, Q> {
    /// Starts the time limit for all requests. At most `at_once` requests are in flight.
    pub(crate) fn new(
        connection: &'c Connection,
        timeouts: InspectorTimeouts,
        at_once: usize,
    ) -> Self {
        let deadline = clock::monotonic().saturating_add(timeouts.total);
        let (waiting, pending) = (VecDeque::new(), Vec::new());
        Self { connection, timeouts, at_once, deadline, waiting, pending }
    }

    /// Adds a request, which is sent when fewer than `at_once` are in flight.
    pub(crate) fn push(&mut self, request: Q) {
        self.waiting.push_back(request);
    }

    /// Waits for the reply to any request. Returns `None` if no request is in flight: all were
    /// answered, or the time limit was reached.
    pub(crate) fn next(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        loop {
            if let Some(unsent) = self.send_more() {
                return Some(unsent);
            }
            if let Some(received) = self.take_reply() {
                return Some(received);
            }
            if self.pending.is_empty() {
                return None;
            }
            // A call that times out is not a message, so `process` needs its timeout.
            let timeout = self.connection.next_timeout();
            if let Err(ended) = self.connection.process(timeout) {
                return self.take_reply().or_else(|| self.fail_pending(ended.into()));
            }
        }
    }

    /// Returns the requests that were never sent.
    pub(crate) fn unsent(self) -> impl Iterator<Item = Q> {
        self.waiting.into_iter()
    }

    /// Sends requests until `at_once` are in flight. If a request cannot be sent, returns its
    /// error.
    fn send_more(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        while self.pending.len() < self.at_once {
            let left = self.deadline.saturating_sub(clock::monotonic());
            let timeout = self.timeouts.reply.min(left);
            if timeout.is_zero() {
                return None;
            }
            let request = self.waiting.pop_front()?;
            match request.start(self.connection, timeout) {
                Ok(call) => self.pending.push(PendingReply { request, call }),
                Err(error) => {
                    return Some((request, Err(InspectorFailure::of_call(error))));
                }
            }
        }
        None
    }

    fn take_reply(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        let polled =
            |(index, pending): (usize, &mut PendingReply<Q>)| Some((index, pending.call.poll()?));
        let (index, reply) = self.pending.iter_mut().enumerate().find_map(polled)?;
        let PendingReply { request, .. } = self.pending.swap_remove(index);
        Some((request, checked(reply)))
    }

    fn fail_pending(
        &mut self,
        failure: InspectorFailure,
    ) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        self.pending.pop().map(|pending| (pending.request, Err(failure)))
    }
}

/// Asks an object for its introspection data, without starting its service. The reply is an XML
/// document for [`capture::introspection`].
///
/// # Errors
///
/// If the call cannot be sent.
pub fn start_introspect<'a>(
    connection: &Connection,
    service: impl IntoName<BusName<'a>>,
    path: impl IntoName<ObjectPath<'a>>,
    timeout: Duration,
) -> Result<StartedCall, CallError> {
    introspect(connection, service.into_name()?, path.into_name()?, Starting::Never, timeout)
}

pub(crate) fn introspect(
    connection: &Connection,
    service: BusName<'_>,
    path: ObjectPath<'_>,
    starting: Starting,
    timeout: Duration,
) -> Result<StartedCall, CallError> {
    let message = Builder::method_call(path, INTROSPECT)
        .interface(INTROSPECTABLE)
        .destination(service)
        .flags(starting.flags());
    connection.start_call(&message, &(), with_timeout(timeout))
}

/// Converts the result of a call. Rejects a reply that is too long.
pub(crate) fn checked(
    reply: Result<ReceivedMessage, CallError>,
) -> Result<ReceivedMessage, InspectorFailure> {
    let message = reply.map_err(InspectorFailure::of_call)?;
    check_len(&message)?;
    Ok(message)
}

/// Checks the length of a message. Decoded values take many times the memory of their bytes.
pub(crate) fn check_len(message: &ReceivedMessage) -> Result<(), InspectorFailure> {
    match message.bytes().len() {
        len if len > MESSAGE_MAX => Err(InspectorFailure::TooLong { len }),
        _ => Ok(()),
    }
}

/// Returns call options with a timeout.
pub(crate) fn with_timeout(timeout: Duration) -> CallOptions {
    CallOptions { timeout: Timeout::After(timeout), ..CallOptions::default() }
}

/// Maximum length of a message that is decoded, in bytes.
pub const MESSAGE_MAX: usize = 8 << 20;

const INTROSPECTABLE: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Introspectable");
const INTROSPECT: MemberName<'static> = MemberName::literal("Introspect");
