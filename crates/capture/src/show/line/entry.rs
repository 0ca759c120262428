//! The content of the line of a message.

use std::io;
use std::time::Duration;

use notation::gvariant::push;
use wire::body::Value;
use wire::message::MessageType;

use super::super::body::{Problem, ShownBody, push_named};
use crate::model::{CallOutcome, CapturedMessage, MessageBuffer, RecordedPeerId};
use crate::record::RecordedTime;
use crate::text::units::bytes;
use crate::text::visible::printable;

/// The content of the line of a message, independent of the capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageLineEntry {
    /// The number of the message; `None` if the line does not stand for a message.
    pub(super) number: Option<u64>,
    pub(super) at: RecordedTime,
    /// The sender of a signal, or the caller of a call or reply.
    pub(super) left: String,
    pub(super) arrow: Arrow,
    pub(super) right: String,
    pub(super) member: String,
    pub(super) tone: Tone,
    /// The outcome of the call, as far as known.
    pub(super) ending: Option<CallEnding>,
    /// The arguments, or the text of an error.
    pub(super) details: String,
}

/// The knowledge about later messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Knowledge {
    /// The recording is complete, so each call has an outcome.
    Whole,
    /// The message is the latest one, so the outcome of a call is not known yet.
    SoFar,
}

/// The direction of the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrow {
    /// The connection on the left sent the message.
    Right,
    /// The connection on the right sent the message.
    Left,
    /// There is no message: the line shows the outcome of a call without a reply.
    NoMessage,
}

/// The kind of message, which determines how its member is highlighted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    Call,
    Reply,
    Signal,
}

/// The outcome of a call, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CallEnding {
    pub(super) outcome: CallOutcome,
    /// The outcome in words, or the name of the error that the callee sent.
    pub(super) words: String,
    /// The time that the caller waited.
    pub(super) waited: Option<Duration>,
}

impl MessageLineEntry {
    /// Creates the entry of a message. `buffer` holds its bytes temporarily.
    pub(super) fn of(
        message: &CapturedMessage<'_>,
        knowledge: Knowledge,
        buffer: &mut MessageBuffer,
    ) -> io::Result<Self> {
        let mut entry = Self::without_details(message, knowledge);
        entry.details = printable(&details(message, buffer)?).into_owned();
        Ok(entry)
    }

    /// Creates the entry of a pending call, without arguments: see [`ended`](Self::ended).
    pub fn of_waiting(call: &CapturedMessage<'_>) -> Self {
        Self::without_details(call, Knowledge::SoFar)
    }

    /// Returns the entry for the outcome, at this time, of the call of this entry, or for its
    /// waiting.
    #[must_use]
    pub fn ended(self, at: RecordedTime, outcome: CallOutcome) -> Self {
        let waited = at.since(self.at);
        let ending = CallEnding { outcome, words: words(outcome).to_owned(), waited };
        let (arrow, tone) = (Arrow::NoMessage, Tone::Reply);
        Self { number: None, at, arrow, tone, ending: Some(ending), ..self }
    }

    /// Returns when the message was sent.
    pub const fn at(&self) -> RecordedTime {
        self.at
    }

    fn without_details(message: &CapturedMessage<'_>, knowledge: Knowledge) -> Self {
        let call = message.call();
        let is_reply = message.kind().is_reply();
        let (from, to) = (sender(message), recipient(message));
        let (left, arrow, right) = match (is_reply, call) {
            (true, Some(call)) => (sender(&call), Arrow::Left, recipient(&call)),
            (true, None) => (to, Arrow::Left, from),
            (false, _) => (from, Arrow::Right, to),
        };
        let is_outcome_known = is_reply || knowledge == Knowledge::Whole;
        let member = match (message.kind(), call) {
            (_, Some(call)) => call.full_member(),
            (MessageType::Signal, None) => message.full_member(),
            (MessageType::Unknown(code), _) => format!("message of type {code}"),
            _ => UNKNOWN_CALL.to_owned(),
        };
        let tone = match (is_reply, message.kind()) {
            (true, _) => Tone::Reply,
            (false, MessageType::MethodCall) => Tone::Call,
            _ => Tone::Signal,
        };
        Self {
            number: Some(message.id().number()),
            at: message.at(),
            left: printable(&left).into_owned(),
            arrow,
            right: printable(&right).into_owned(),
            member: printable(&member).into_owned(),
            tone,
            ending: is_outcome_known.then(|| CallEnding::of(message)).flatten(),
            details: String::new(),
        }
    }
}

impl CallEnding {
    /// The ending of the call that a message is or answers.
    fn of(message: &CapturedMessage<'_>) -> Option<Self> {
        let reply = match message.kind().is_reply() {
            true => Some(*message),
            false => message.partner(),
        };
        let of_reply = |reply: &CapturedMessage<'_>| match reply.kind() {
            MessageType::Error => CallOutcome::Failed,
            _ => CallOutcome::Returned,
        };
        let outcome = message.outcome().or_else(|| reply.as_ref().map(of_reply))?;
        let words = match (outcome, reply) {
            (CallOutcome::NoReplyExpected, _) => return None,
            (CallOutcome::Failed, Some(error)) => printable(error.member()).into_owned(),
            _ => words(outcome).to_owned(),
        };
        Some(Self { outcome, words, waited: message.waited() })
    }

    /// True if the call succeeded; `None` if that is unknown.
    pub(super) const fn is_good(&self) -> Option<bool> {
        match self.outcome {
            CallOutcome::Returned | CallOutcome::NoReplyExpected => Some(true),
            CallOutcome::Waiting | CallOutcome::Unknown => None,
            CallOutcome::Failed
            | CallOutcome::TimedOut
            | CallOutcome::CalleeLeft
            | CallOutcome::CallerLeft => Some(false),
        }
    }

    /// The text between the outcome and the values of the reply.
    pub(super) const fn separator(&self) -> &'static str {
        match self.outcome {
            CallOutcome::Failed => ": ",
            _ => " ",
        }
    }
}

/// The words for an outcome in a line.
const fn words(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Waiting => "still waiting",
        CallOutcome::Unknown => "outcome unknown",
        outcome => outcome.as_str(),
    }
}

fn sender(message: &CapturedMessage<'_>) -> String {
    label(message, message.from(), message.sender())
}

fn recipient(message: &CapturedMessage<'_>) -> String {
    match message.destination() {
        "" if message.kind() == MessageType::Signal => EVERYBODY.to_owned(),
        name => label(message, message.to(), name),
    }
}

fn label(message: &CapturedMessage<'_>, peer: Option<RecordedPeerId>, name: &str) -> String {
    match peer {
        Some(peer) => message.capture().label(peer).into_owned(),
        None => name.to_owned(),
    }
}

/// The arguments as a tuple, or the text of an error.
fn details(message: &CapturedMessage<'_>, buffer: &mut MessageBuffer) -> io::Result<String> {
    if message.kept() > READ_MAX {
        return Ok(format!("({})", bytes(f64::from(message.len()))));
    }
    let body = ShownBody::read(message, buffer)?;
    let mut text = String::new();
    match (message.kind(), body.values.as_slice(), body.problem) {
        (_, _, Some(problem @ (Problem::Cut | Problem::Invalid | Problem::Redacted))) => {
            text = format!("({})", problem.word());
        }
        (MessageType::Error, [Value::String(words)], _) => text.push_str(words),
        (MessageType::MethodReturn | MessageType::Error, [], _) => {}
        _ => {
            text.push('(');
            for (index, (name, value)) in body.named().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                push_named(&mut text, name, |text| push(text, value));
            }
            text.push(')');
        }
    }
    Ok(text)
}

/// The recipient of a signal without a destination.
const EVERYBODY: &str = "*";

/// The member of a reply whose call is not in the recording.
const UNKNOWN_CALL: &str = "unknown call";

/// The maximum length, in bytes, of messages whose arguments are read for a line.
const READ_MAX: u32 = 64 << 10;
