//! An operation of a client, as a value that can be skipped, printed and performed on either bus.

use std::fmt;

use conformance::{PlainMessage, PlainValue, WireByteOrder, field, kind};

/// An operation of one client. In all texts `<2>` stands for the unique name of client 2.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) client: usize,
    pub(crate) act: OperationKind,
}

/// The kind of an operation. If an operation is impossible at the time, for example because the
/// client is not connected, it does nothing.
#[derive(Debug, Clone)]
pub(crate) enum OperationKind {
    /// Connects to the bus and authenticates.
    Connect,
    /// Sends this message to the bus.
    Send(PlainMessage),
    /// Replies to the oldest pending call, with this type, error name and body.
    Answer(PlainMessage),
    /// Calls BecomeMonitor with these rules.
    Monitor(Vec<String>),
    /// Sends messages and disconnects immediately, without reading.
    Leave(Vec<PlainMessage>),
}

impl Operation {
    /// Returns true if the operation calls BecomeMonitor.
    pub(crate) const fn is_to_monitor(&self) -> bool {
        matches!(self.act, OperationKind::Monitor(_))
    }
}

/// Replaces the placeholders in a text by names.
pub(crate) fn resolve(text: &str, names: &[String]) -> String {
    let by_place = names.iter().enumerate();
    by_place.fold(text.to_owned(), |text, (place, name)| text.replace(&stand_in(place), name))
}

/// The placeholder for the unique name of a client.
pub(crate) fn stand_in(client: usize) -> String {
    format!("<{client}>")
}

/// A message with the placeholders replaced by names, in the header and in the arguments.
pub(crate) fn resolve_message(message: &PlainMessage, names: &[String]) -> PlainMessage {
    let mut message = message.clone();
    let fields = message.fields.iter_mut().map(|(_, value)| value);
    for value in fields.chain(&mut message.body) {
        if let PlainValue::Str(text) = value {
            *text = resolve(text, names);
        }
    }
    message
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "client {} ", self.client)?;
        match &self.act {
            OperationKind::Connect => write!(out, "connects"),
            OperationKind::Send(message) => write!(out, "sends {}", DescribedOperation(message)),
            OperationKind::Answer(message) => {
                write!(out, "answers with {}", DescribedOperation(message))
            }
            OperationKind::Monitor(rules) => write!(out, "becomes a monitor of {rules:?}"),
            OperationKind::Leave(messages) => {
                write!(out, "leaves")?;
                messages
                    .iter()
                    .try_for_each(|last| write!(out, ", sending {}", DescribedOperation(last)))
            }
        }
    }
}

struct DescribedOperation<'a>(&'a PlainMessage);

impl fmt::Display for DescribedOperation<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.0;
        match message.kind {
            kind::CALL => write!(out, "a call"),
            kind::RETURN => write!(out, "a return"),
            kind::ERROR => write!(out, "an error"),
            kind::SIGNAL => write!(out, "a signal"),
            other => write!(out, "a message of type {other}"),
        }?;
        for (code, name) in FIELDS {
            match message.get(code) {
                Some(PlainValue::U32(number)) => write!(out, " {name}={number}")?,
                Some(value) => write!(out, " {name}={}", value.as_str().unwrap_or("?"))?,
                None => {}
            }
        }
        if message.flags != 0 {
            write!(out, " flags={}", message.flags)?;
        }
        if message.order == WireByteOrder::Big {
            write!(out, " in big-endian order")?;
        }
        write!(out, " {:?}", message.body)
    }
}

const FIELDS: [(u8, &str); 7] = [
    (field::DESTINATION, "destination"),
    (field::PATH, "path"),
    (field::INTERFACE, "interface"),
    (field::MEMBER, "member"),
    (field::ERROR_NAME, "error"),
    (field::REPLY_SERIAL, "serial"),
    (field::SENDER, "sender"),
];
