//! Many questions at once: each has its time, and all together have theirs.

use std::collections::VecDeque;
use std::time::Duration;

use client::{CallError, CallOptions, Connection, IntoName, ReceivedMessage, StartedCall, Timeout};
use serde::{Deserialize, Serialize};
use sys::clock;
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::failure::InspectorFailure;

/// How long is waited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InspectorPatience {
    /// For one answer.
    pub answer: Duration,
    /// For all that one look takes.
    pub whole: Duration,
}

impl Default for InspectorPatience {
    /// 5 s for an answer, 15 s for all.
    fn default() -> Self {
        Self { answer: Duration::from_secs(5), whole: Duration::from_secs(15) }
    }
}

/// Whether a service is started that does not run yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Starting {
    /// It is not: looking changes nothing.
    #[default]
    Never,
    /// It is, if the bus can.
    Allowed,
}

impl Starting {
    /// The flags of a message for which this is so.
    pub(crate) const fn flags(self) -> Flags {
        match self {
            Self::Never => Flags::NO_AUTO_START,
            Self::Allowed => Flags::NONE,
        }
    }
}

/// Something to be asked by a call.
pub(crate) trait InspectorQuestion {
    /// Queues the call.
    fn ask(&self, connection: &Connection, patience: Duration) -> Result<StartedCall, CallError>;
}

/// Questions of one kind, of which several are under way.
pub(crate) struct Asking<'c, Q> {
    connection: &'c Connection,
    patience: InspectorPatience,
    at_once: usize,
    /// When the time for all is over.
    deadline: Duration,
    waiting: VecDeque<Q>,
    asked: Vec<PendingAnswer<Q>>,
}

struct PendingAnswer<Q> {
    question: Q,
    call: StartedCall,
    patience: Duration,
}

impl<'c, Q: InspectorQuestion> Asking<'c, Q> {
    /// The time for all begins now; at most `at_once` questions will be under way.
    pub(crate) fn new(
        connection: &'c Connection,
        patience: InspectorPatience,
        at_once: usize,
    ) -> Self {
        let deadline = clock::monotonic().saturating_add(patience.whole);
        let (waiting, asked) = (VecDeque::new(), Vec::new());
        Self { connection, patience, at_once, deadline, waiting, asked }
    }

    /// Asks one more, when its turn comes.
    pub(crate) fn push(&mut self, question: Q) {
        self.waiting.push_back(question);
    }

    /// Waits for an answer to any question. `None` when there is none under way any more: all were
    /// answered, or the time is over.
    pub(crate) fn next(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        loop {
            if let Some(unsent) = self.ask_more() {
                return Some(unsent);
            }
            if let Some(answered) = self.take_answer() {
                return Some(answered);
            }
            if self.asked.is_empty() {
                return None;
            }
            // A call whose time is over is no message, so it does not end the waiting by itself.
            let patience = self.connection.next_timeout();
            if let Err(ended) = self.connection.process(patience) {
                return self.take_answer().or_else(|| self.give_up(ended.into()));
            }
        }
    }

    /// What was never asked.
    pub(crate) fn unasked(self) -> impl Iterator<Item = Q> {
        self.waiting.into_iter()
    }

    /// Asks as many as may be under way. A question that cannot be sent is answered by that.
    fn ask_more(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        while self.asked.len() < self.at_once {
            let left = self.deadline.saturating_sub(clock::monotonic());
            let patience = self.patience.answer.min(left);
            if patience.is_zero() {
                return None;
            }
            let question = self.waiting.pop_front()?;
            match question.ask(self.connection, patience) {
                Ok(call) => self.asked.push(PendingAnswer { question, call, patience }),
                Err(error) => {
                    return Some((question, Err(InspectorFailure::of_call(error, patience))));
                }
            }
        }
        None
    }

    fn take_answer(&mut self) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        let polled =
            |(place, asked): (usize, &mut PendingAnswer<Q>)| Some((place, asked.call.poll()?));
        let (place, answer) = self.asked.iter_mut().enumerate().find_map(polled)?;
        let PendingAnswer { question, patience, .. } = self.asked.swap_remove(place);
        Some((question, checked(answer, patience)))
    }

    fn give_up(
        &mut self,
        failure: InspectorFailure,
    ) -> Option<(Q, Result<ReceivedMessage, InspectorFailure>)> {
        self.asked.pop().map(|asked| (asked.question, Err(failure)))
    }
}

/// Asks an object what it has, without starting its service; the answer is a document
/// ([`capture::introspection`]).
///
/// # Errors
///
/// If the call cannot be sent.
pub fn start_introspect<'a>(
    connection: &Connection,
    service: impl IntoName<BusName<'a>>,
    path: impl IntoName<ObjectPath<'a>>,
    patience: Duration,
) -> Result<StartedCall, CallError> {
    introspect(connection, service.into_name()?, path.into_name()?, Starting::Never, patience)
}

pub(crate) fn introspect(
    connection: &Connection,
    service: BusName<'_>,
    path: ObjectPath<'_>,
    starting: Starting,
    patience: Duration,
) -> Result<StartedCall, CallError> {
    let message = Builder::method_call(path, INTROSPECT)
        .interface(INTROSPECTABLE)
        .destination(service)
        .flags(starting.flags());
    connection.start_call(&message, &(), within(patience))
}

/// What came of a call that was waited for so long.
pub(crate) fn checked(
    answer: Result<ReceivedMessage, CallError>,
    waited: Duration,
) -> Result<ReceivedMessage, InspectorFailure> {
    let message = answer.map_err(|error| InspectorFailure::of_call(error, waited))?;
    check_len(&message)?;
    Ok(message)
}

/// Values take many times the memory of their bytes, so nobody may send too many.
pub(crate) fn check_len(message: &ReceivedMessage) -> Result<(), InspectorFailure> {
    match message.bytes().len() {
        len if len > MESSAGE_MAX => Err(InspectorFailure::TooLong { len }),
        _ => Ok(()),
    }
}

/// The options of a call that is waited for so long.
pub(crate) fn within(patience: Duration) -> CallOptions {
    CallOptions { timeout: Timeout::After(patience), ..CallOptions::default() }
}

/// Bytes of a message that is read.
pub const MESSAGE_MAX: usize = 8 << 20;

const INTROSPECTABLE: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Introspectable");
const INTROSPECT: MemberName<'static> = MemberName::literal("Introspect");
