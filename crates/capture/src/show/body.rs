//! The values of a message, and what all forms do with them.

use std::borrow::Cow;
use std::io;

use wire::Message as WireMessage;
use wire::body::Value;

use crate::model::{CapturedMessage, Health};
use crate::text::visible::{self, printable};

/// The body of a message, read for one of the forms.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ShownBody<'c> {
    /// The letter for the order of its bytes, with which it begins.
    pub(super) endian: char,
    /// None if they cannot be read; if they were crossed out, what is left of them.
    pub(super) values: Vec<Value>,
    pub(super) problem: Option<Problem>,
    /// The names of the arguments, if they are known; not all have one.
    pub(super) names: Vec<Option<&'c str>>,
}

/// Why a body does not say what it said.
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

    /// For people, with the bytes that there are.
    pub(super) fn sentence(self, message: &CapturedMessage<'_>) -> String {
        match self {
            Self::Cut => format!("cut: {} of {} bytes", message.kept(), message.len()),
            Self::Redacted => String::from("redacted: what it says was crossed out"),
            Self::Invalid => String::from("invalid: it breaks the rules of the specification"),
        }
    }
}

impl<'c> ShownBody<'c> {
    pub(super) fn read(message: &CapturedMessage<'c>, buffer: &mut Vec<u8>) -> io::Result<Self> {
        let (values, problem) = read_values(message, buffer)?;
        let endian = if buffer.first() == Some(&b'B') { 'B' } else { 'l' };
        let names = message.argument_names().map(Iterator::collect).unwrap_or_default();
        Ok(Self { endian, values, problem, names })
    }

    /// Makes control characters in texts visible.
    pub(super) fn escape(&mut self) {
        let values = std::mem::take(&mut self.values).into_iter();
        self.values = values.map(|value| visible::value(value, printable)).collect();
    }

    /// The values with their names.
    pub(super) fn named(&self) -> impl Iterator<Item = (Option<&'c str>, &Value)> {
        let names = self.names.iter().copied().chain(std::iter::repeat(None));
        names.zip(&self.values)
    }
}

/// What is left of the arguments of a message, and what is wrong with that.
pub(super) fn read_values(
    message: &CapturedMessage<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<(Vec<Value>, Option<Problem>)> {
    message.capture().read_bytes(message.id(), buffer)?;
    let problem = match message.health() {
        Health::Whole => None,
        Health::BodyRedacted => Some(Problem::Redacted),
        Health::BodyCut | Health::HeaderCut => return Ok((Vec::new(), Some(Problem::Cut))),
        Health::BodyInvalid | Health::HeaderInvalid => {
            return Ok((Vec::new(), Some(Problem::Invalid)));
        }
    };
    Ok(match arguments(buffer) {
        Some(values) => (values, problem),
        None => (Vec::new(), Some(Problem::Invalid)),
    })
}

fn arguments(bytes: &[u8]) -> Option<Vec<Value>> {
    Value::read_args(&WireMessage::parse(bytes).ok()?).ok()
}

/// Appends lines, with a name in front of the first one, behind the blanks that it begins with.
pub(super) fn push_named(text: &mut String, name: Option<&str>, push: impl FnOnce(&mut String)) {
    let start = text.len();
    push(text);
    if let Some(name) = name {
        let blanks = text[start..].bytes().take_while(|byte| *byte == b' ').count();
        text.insert_str(start + blanks, &format!("{}: ", printable(name)));
    }
}

/// The bus of a message, where there are several.
pub(super) fn which_bus<'c>(message: &CapturedMessage<'c>) -> Option<Cow<'c, str>> {
    let capture = message.capture();
    (capture.buses().len() > 1).then(|| capture.bus_label(message.bus()))
}
