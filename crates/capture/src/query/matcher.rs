//! Evaluates queries on messages.

use std::borrow::Cow;

use wire::Message as WireMessage;
use wire::body::Value;
use wire::match_rule::MatchRule;
use wire::message::MessageType;

use super::expression::{ArgumentTest, Expression, NumberComparison, Term};
use super::field::{Arguments, MessageState, NumberField, TextField};
use super::pattern::Pattern;
use super::scope::QueryScope;
use crate::match_subject::RecordedMatchSubject;
use crate::model::{CallOutcome, Capture, CapturedMessage, Health, MessageBuffer, RecordedPeer};
use crate::recipients::{SignalRecipients, is_broadcast};
use crate::record::{RecordedProcess, nanos};

/// Evaluates a query on one message after the other.
#[derive(Debug)]
pub struct Matcher<'q> {
    expression: Option<&'q Expression>,
    scope: QueryScope,
    /// Buffer for the message whose arguments are read.
    buffer: MessageBuffer,
    /// The recipients of signals, found when a term first needs them.
    recipients: Option<Box<KnownRecipients>>,
}

/// The recipients of signals, and the length of the recording when they were found.
#[derive(Debug)]
struct KnownRecipients {
    messages: usize,
    facts: usize,
    /// `None` if the recording does not show the recipients.
    found: Option<SignalRecipients>,
}

impl KnownRecipients {
    fn find(capture: &Capture) -> Self {
        let (messages, facts) = (capture.len(), capture.facts().len());
        Self { messages, facts, found: SignalRecipients::find(capture).ok() }
    }

    /// False if a live capture has received more messages since.
    fn is_current(&self, capture: &Capture) -> bool {
        (self.messages, self.facts) == (capture.len(), capture.facts().len())
    }
}

impl<'q> Matcher<'q> {
    pub(super) fn new(expression: Option<&'q Expression>, scope: QueryScope) -> Self {
        Self { expression, scope, buffer: MessageBuffer::default(), recipients: None }
    }

    /// Returns true if the query selects the message. The body is read only if a term about
    /// arguments decides the result. A body that cannot be read has no arguments.
    pub fn selects(&mut self, message: &CapturedMessage<'_>) -> bool {
        if self.scope.leaves_out(message) {
            return false;
        }
        self.expression.is_none_or(|expression| self.holds(expression, message))
    }

    /// Returns true if an expression, of this query or another one, holds for a message.
    pub(super) fn holds(&mut self, expression: &Expression, message: &CapturedMessage<'_>) -> bool {
        match expression {
            Expression::All(parts) => parts.iter().all(|part| self.holds(part, message)),
            Expression::Any(parts) => parts.iter().any(|part| self.holds(part, message)),
            Expression::Not(part) => !self.holds(part, message),
            Expression::Term(term) => self.term(term, message),
        }
    }

    fn term(&mut self, term: &Term, message: &CapturedMessage<'_>) -> bool {
        match term {
            Term::Anywhere(pattern) => {
                anywhere(message, pattern)
                    || self.argument(Arguments::Any, message, &|value| is_like(value, pattern))
            }
            Term::Text(field, pattern) => text(message, *field, pattern),
            Term::Number(NumberField::Recipients, comparison) => {
                self.recipients(message).is_some_and(|count| comparison.holds(count))
            }
            Term::Number(field, comparison) => number(message, *field, *comparison),
            Term::Type(kind) => message.kind() == *kind,
            Term::Flags(flags) => message.flags().contains(*flags),
            Term::Is(state) => is(message, *state),
            Term::Argument(which, ArgumentTest::Like(pattern)) => {
                self.argument(*which, message, &|value| is_like(value, pattern))
            }
            Term::Argument(which, ArgumentTest::Compares(order, with)) => {
                let holds =
                    |value: &Value| as_number(value).is_some_and(|it| order.holds(it, *with));
                self.argument(*which, message, &holds)
            }
            Term::Rule(rule) => self.rule(rule, message),
        }
    }

    fn argument(
        &mut self,
        which: Arguments,
        message: &CapturedMessage<'_>,
        test: &dyn Fn(&Value) -> bool,
    ) -> bool {
        if message.signature_id().is_none() {
            return false;
        }
        let Some(whole) = self.read(message) else { return false };
        let mut reader = whole.reader();
        for (index, kind) in whole.signature().types().enumerate() {
            let Ok(value) = Value::read(kind, &mut reader) else { return false };
            let is_asked = which == Arguments::Any || which == Arguments::At(index as u8);
            if is_asked && any_inside(&value, test) {
                return true;
            }
        }
        false
    }

    fn rule(&mut self, rule: &MatchRule, message: &CapturedMessage<'_>) -> bool {
        let body = if rule.args().is_empty() { None } else { self.read(message) };
        rule.matches(&RecordedMatchSubject::new(message, body))
    }

    /// The number of recipients of a broadcast signal, if known.
    fn recipients(&mut self, message: &CapturedMessage<'_>) -> Option<u64> {
        if !is_broadcast(message) {
            return None;
        }
        if let Some(copies) = message.copies() {
            return Some(copies.count() as u64);
        }
        let capture = message.capture();
        if !self.recipients.as_ref().is_some_and(|known| known.is_current(capture)) {
            self.recipients = Some(Box::new(KnownRecipients::find(capture)));
        }
        self.recipients.as_mut()?.found.as_mut()?.of(message).ok().flatten()
    }

    fn read<'b>(&'b mut self, message: &'b CapturedMessage<'_>) -> Option<WireMessage<'b>> {
        message.capture().read_message(message.id(), &mut self.buffer).ok().flatten()
    }
}

fn text(message: &CapturedMessage<'_>, field: TextField, pattern: &Pattern) -> bool {
    let asked = message.call().unwrap_or(*message);
    let of_member = |text: &str| !text.is_empty() && pattern.selects(text);
    match field {
        TextField::From => end(message, MessageEnd::Sender, pattern),
        TextField::To => end(message, MessageEnd::Recipient, pattern),
        TextField::Name => {
            end(message, MessageEnd::Sender, pattern)
                || end(message, MessageEnd::Recipient, pattern)
        }
        TextField::Path => of_member(asked.path()),
        TextField::Interface => of_member(asked.interface()),
        TextField::Member => asked.kind() != MessageType::Error && of_member(asked.member()),
        TextField::Error => error(message).is_some_and(|error| pattern.selects(error.member())),
        TextField::Signature => pattern.selects(message.signature()),
        TextField::Program => peers(message).any(|peer| program(peer, pattern)),
        TextField::Unit => peers(message).any(|peer| {
            let unit = peer.process.as_ref().and_then(|process| process.unit.as_deref());
            unit.is_some_and(|unit| pattern.selects(unit))
        }),
        TextField::Bus => pattern.selects(&message.capture().bus_label(message.bus())),
    }
}

fn anywhere(message: &CapturedMessage<'_>, pattern: &Pattern) -> bool {
    const FIELDS: [TextField; 6] = [
        TextField::Member,
        TextField::Interface,
        TextField::Path,
        TextField::Name,
        TextField::Error,
        TextField::Unit,
    ];
    FIELDS.iter().any(|&field| text(message, field, pattern))
}

/// The sender or recipient of a message.
#[derive(Clone, Copy)]
enum MessageEnd {
    Sender,
    Recipient,
}

/// Returns true if the pattern matches the name, the names of its owner or the program at one end
/// of a message.
fn end(message: &CapturedMessage<'_>, end: MessageEnd, pattern: &Pattern) -> bool {
    let (name, peer) = match end {
        MessageEnd::Sender => (message.sender(), message.from()),
        MessageEnd::Recipient => (message.destination(), message.to()),
    };
    if !name.is_empty() && pattern.selects(name) {
        return true;
    }
    let Some(peer) = peer else { return false };
    let (directory, strings) = (message.capture().directory(), message.capture().strings());
    let peer = directory.peer(peer);
    pattern.selects(strings.get(peer.unique))
        || peer.names.iter().any(|&name| pattern.selects(strings.get(name)))
        || program(peer, pattern)
}

fn program(peer: &RecordedPeer, pattern: &Pattern) -> bool {
    programs(peer).any(|text| pattern.selects(text))
}

/// The names of a connection's program: its script or file, its kernel name, and its file name.
pub(super) fn programs(peer: &RecordedPeer) -> impl Iterator<Item = &str> {
    let process = peer.process.as_ref();
    let file = process.and_then(|process| process.exe.as_deref()?.rsplit('/').next());
    let comm = process.and_then(|process| process.comm.as_deref());
    [process.and_then(RecordedProcess::program), comm, file].into_iter().flatten()
}

pub(super) fn peers<'c>(message: &CapturedMessage<'c>) -> impl Iterator<Item = &'c RecordedPeer> {
    let directory = message.capture().directory();
    [message.from(), message.to()].into_iter().flatten().map(move |peer| directory.peer(peer))
}

fn number(message: &CapturedMessage<'_>, field: NumberField, comparison: NumberComparison) -> bool {
    if field == NumberField::Process {
        let pid = |peer: &RecordedPeer| peer.process.as_ref().and_then(|process| process.pid);
        return peers(message).filter_map(pid).any(|pid| comparison.holds(pid.into()));
    }
    value_of(message, field).is_some_and(|found| comparison.holds(found))
}

/// The value of a numeric field; `None` for processes, of which a message can have two.
pub(super) fn value_of(message: &CapturedMessage<'_>, field: NumberField) -> Option<u64> {
    match field {
        NumberField::Size => Some(message.len().into()),
        NumberField::Duration => message.waited().map(nanos),
        NumberField::Serial => Some(message.serial().into()),
        NumberField::Number => Some(message.id().number()),
        NumberField::Time => since_start(message),
        // Only the matcher knows these: they do not depend on the message alone.
        NumberField::Recipients | NumberField::Process => None,
    }
}

/// The nanoseconds since the first message; 0 for earlier times, which occur if the clock was set
/// back.
fn since_start(message: &CapturedMessage<'_>) -> Option<u64> {
    let first = message.capture().messages().next()?;
    let span = message.at().since(first.at()).unwrap_or_default();
    u64::try_from(span.as_nanos()).ok()
}

fn is(message: &CapturedMessage<'_>, state: MessageState) -> bool {
    match state {
        MessageState::Error => error(message).is_some(),
        MessageState::Ended(outcome) => message.outcome() == Some(outcome),
        MessageState::Unanswered => {
            message.kind() == MessageType::MethodCall
                && message.outcome().is_some_and(CallOutcome::is_unanswered)
        }
        MessageState::Cut => matches!(message.health(), Health::BodyCut | Health::HeaderCut),
        MessageState::Redacted => message.health() == Health::BodyRedacted,
        MessageState::Invalid => {
            matches!(message.health(), Health::BodyInvalid | Health::HeaderInvalid)
        }
        MessageState::Driver => message.is_driver_traffic(),
        MessageState::Recorder => message.is_of_recorder(),
    }
}

/// The message if it is an error, or the error that answers it.
pub(super) fn error<'c>(message: &CapturedMessage<'c>) -> Option<CapturedMessage<'c>> {
    let is_error = |message: &CapturedMessage<'_>| message.kind() == MessageType::Error;
    Some(*message).filter(is_error).or_else(|| message.partner().filter(is_error))
}

/// Returns true if the test holds for a value or for any value inside it.
fn any_inside(value: &Value, test: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Variant(inside) => any_inside(inside, test),
        Value::Array { items, .. } | Value::Struct(items) => {
            items.iter().any(|item| any_inside(item, test))
        }
        Value::DictEntry(entry) => any_inside(&entry.0, test) || any_inside(&entry.1, test),
        _ => test(value),
    }
}

fn is_like(value: &Value, pattern: &Pattern) -> bool {
    as_text(value).is_some_and(|text| pattern.selects(&text))
}

/// The text of a basic value; `None` for containers and other values without a text.
fn as_text(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) => text.into(),
        Value::ObjectPath(path) => path.as_path().as_str().to_owned().into(),
        Value::Signature(types) => types.as_str().into(),
        Value::Boolean(truth) => truth.to_string().into(),
        Value::Double(number) => number.to_string().into(),
        Value::Int64(number) => number.to_string().into(),
        Value::Uint64(number) => number.to_string().into(),
        Value::Bytes(bytes) => {
            String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned().into()
        }
        _ => as_number(value)?.to_string().into(),
    })
}

/// The value as a number. Integers of more than 53 bits are rounded to the nearest double.
fn as_number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Byte(number) => (*number).into(),
        Value::Int16(number) => (*number).into(),
        Value::Uint16(number) => (*number).into(),
        Value::Int32(number) => (*number).into(),
        Value::Uint32(number) | Value::UnixFd(number) => (*number).into(),
        Value::Int64(number) => *number as f64,
        Value::Uint64(number) => *number as f64,
        Value::Double(number) => *number,
        _ => return None,
    })
}
