//! The arguments of a message, as needed by all formats.

use std::borrow::Cow;
use std::io;

use wire::Message as WireMessage;
use wire::body::Value;

use crate::model::{CapturedMessage, Health, MessageBuffer};
use crate::text::visible::{self, printable};

/// The body of a message, read to be formatted.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ShownBody<'c> {
    /// The byte order character at the start of the message.
    pub(super) endian: char,
    /// The arguments; empty if they cannot be read, and with blanked values if they are redacted.
    pub(super) values: Vec<Value>,
    pub(super) problem: Option<Problem>,
    /// The names of the arguments, if known. Individual arguments may have no name.
    pub(super) names: Vec<Option<&'c str>>,
}

/// The reasons why the arguments differ from the original message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    Cut,
    Redacted,
    Invalid,
}

impl Problem {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Redacted => "redacted",
            Self::Invalid => "invalid",
        }
    }

    /// The problem in words, with the number of bytes present.
    pub(super) fn sentence(self, message: &CapturedMessage<'_>) -> String {
        match self {
            Self::Cut => format!("cut: {} of {} bytes", message.kept(), message.len()),
            Self::Redacted => String::from("redacted: the values of the body were removed"),
            Self::Invalid => String::from("invalid: it violates the D-Bus specification"),
        }
    }
}

impl<'c> ShownBody<'c> {
    pub(super) fn read(
        message: &CapturedMessage<'c>,
        buffer: &mut MessageBuffer,
    ) -> io::Result<Self> {
        let (values, problem) = read_values(message, buffer)?;
        let endian = endian(message, buffer)?;
        let names = message.argument_names().map(Iterator::collect).unwrap_or_default();
        Ok(Self { endian, values, problem, names })
    }

    /// Escapes control characters in texts.
    pub(super) fn escape(&mut self) {
        let values = std::mem::take(&mut self.values).into_iter();
        self.values = values.map(|value| visible::value(value, printable)).collect();
    }

    /// The arguments with their names.
    pub(super) fn named(&self) -> impl Iterator<Item = (Option<&'c str>, &Value)> {
        let names = self.names.iter().copied().chain(std::iter::repeat(None));
        names.zip(&self.values)
    }
}

/// The arguments of a message, and the problem with them, if any.
pub(super) fn read_values(
    message: &CapturedMessage<'_>,
    buffer: &mut MessageBuffer,
) -> io::Result<(Vec<Value>, Option<Problem>)> {
    let bytes = message.capture().read_bytes(message.id(), buffer)?;
    let problem = match message.health() {
        Health::Whole => None,
        Health::BodyRedacted => Some(Problem::Redacted),
        Health::BodyCut | Health::HeaderCut => return Ok((Vec::new(), Some(Problem::Cut))),
        Health::BodyInvalid | Health::HeaderInvalid => {
            return Ok((Vec::new(), Some(Problem::Invalid)));
        }
    };
    Ok(match arguments(bytes) {
        Some(values) => (values, problem),
        None => (Vec::new(), Some(Problem::Invalid)),
    })
}

/// The byte order character at the start of a message.
fn endian(message: &CapturedMessage<'_>, buffer: &mut MessageBuffer) -> io::Result<char> {
    let bytes = message.capture().read_bytes(message.id(), buffer)?;
    Ok(if bytes.first() == Some(&b'B') { 'B' } else { 'l' })
}

fn arguments(bytes: &[u8]) -> Option<Vec<Value>> {
    Value::read_args(&WireMessage::parse(bytes).ok()?).ok()
}

/// Appends lines, and inserts a name into the first one, after its leading blanks.
pub(super) fn push_named(text: &mut String, name: Option<&str>, push: impl FnOnce(&mut String)) {
    let start = text.len();
    push(text);
    if let Some(name) = name {
        let blanks = text[start..].bytes().take_while(|byte| *byte == b' ').count();
        text.insert_str(start + blanks, &format!("{}: ", printable(name)));
    }
}

/// The bus of a message, if the recording has several.
pub(super) fn bus_label<'c>(message: &CapturedMessage<'c>) -> Option<Cow<'c, str>> {
    let capture = message.capture();
    (capture.buses().len() > 1).then(|| capture.bus_label(message.bus()))
}
