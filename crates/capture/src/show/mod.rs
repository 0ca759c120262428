//! Messages as texts that people and programs know.
//!
//! [`Format`] has the forms of busctl, gdbus and dbus-send, to the byte where those tools print the
//! same, and JSON; [`Lines`] has a line for each message that fits a terminal. [`Command`] makes of a message
//! the command that sends the like. [`Details`] is all that is known of one call, with where its time went.
//!
//! What the tools do not print, as gdbus replies, is in the style of what they do. Where a recording
//! has what objects say about themselves, arguments have their names in front, which no tool prints.

mod busctl;
mod command;
mod dbus_send;
mod details;
mod gvariant;
mod json;
mod line;

use std::borrow::Cow;
use std::io;

use wire::Message as WireMessage;
use wire::body::Value;

pub use command::{Command, CommandBus, CommandKind, CommandParts, Inexpressible, shell_word};
pub use details::Details;
pub use line::{Entry, Knowledge, LineClock, Lines};

use crate::model::{Health, Message};
use crate::text::visible::{self, printable};

/// A form in which messages are shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// As `busctl monitor`, with times in UTC.
    Busctl,
    /// As `gdbus monitor`: a line for each message, values as GVariant has them.
    Gdbus,
    /// As `dbus-monitor`, and as `dbus-send --print-reply` prints a reply.
    DbusSend,
    /// As `busctl --json=short monitor`, with keys of ours behind its own: `number`, `size`, `bus`,
    /// `sender_name`, `destination_name`, `process`, `duration_ns`, `partner`, `recipients`,
    /// `arguments`, `problem`.
    Json,
    /// The same, with `data` a list of [`notation::json::TypedValue`]: nothing of a value is lost.
    Lossless,
}

impl Format {
    /// Appends a message to a text, with the end of its last line. `buffer` is used for its bytes.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn push(
        self,
        text: &mut String,
        message: &Message<'_>,
        buffer: &mut Vec<u8>,
        controls: Controls,
    ) -> io::Result<()> {
        let mut body = Body::read(message, buffer)?;
        let start = text.len();
        if controls == Controls::Escaped && self.prints_texts_raw() {
            body.escape();
        }
        match self {
            Self::Busctl => busctl::push(text, message, &body),
            Self::Gdbus => gvariant::push_message(text, message, &body),
            Self::DbusSend => dbus_send::push(text, message, &body),
            Self::Json => json::push(text, message, &body, json::Shape::Busctl),
            Self::Lossless => json::push(text, message, &body, json::Shape::Lossless),
        }
        if let (Controls::Escaped, Cow::Owned(safe)) = (controls, visible::lines(&text[start..])) {
            text.replace_range(start.., &safe);
        }
        Ok(())
    }

    /// Whether texts stand in this form as they are. The others have escapes of their own.
    const fn prints_texts_raw(self) -> bool {
        match self {
            Self::Busctl | Self::DbusSend => true,
            Self::Gdbus | Self::Json | Self::Lossless => false,
        }
    }
}

/// What becomes of control characters in texts that peers chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controls {
    /// They stay, where the tool whose form it is prints them. For programs.
    Raw,
    /// They become escapes ([`visible`]). For terminals.
    Escaped,
}

/// What a message says as JSON: a list of its arguments, as [`Format::Json`] has them under `data`.
/// `None` if it is cut, redacted or invalid. `buffer` is room for its bytes.
///
/// # Errors
///
/// If the recording cannot be read.
pub fn arguments_as_json(
    message: &Message<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<String>> {
    let (values, problem) = read_values(message, buffer)?;
    Ok(problem.is_none().then(|| notation::busctl::json_list(&values)))
}

/// What a message carries.
#[derive(Clone, PartialEq, Debug)]
struct Body<'c> {
    /// The letter for the order of its bytes, with which it begins.
    endian: char,
    /// None if they cannot be read; if they were crossed out, what is left of them.
    values: Vec<Value>,
    problem: Option<Problem>,
    /// The names of the arguments, if they are known; not all have one.
    names: Vec<Option<&'c str>>,
}

/// Why a body does not say what it said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Problem {
    Cut,
    Redacted,
    Invalid,
}

impl Problem {
    const fn word(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Redacted => "redacted",
            Self::Invalid => "invalid",
        }
    }

    /// For people, with the bytes that there are.
    fn sentence(self, message: &Message<'_>) -> String {
        match self {
            Self::Cut => format!("cut: {} of {} bytes", message.kept(), message.len()),
            Self::Redacted => String::from("redacted: what it says was crossed out"),
            Self::Invalid => String::from("invalid: it breaks the rules of the specification"),
        }
    }
}

impl<'c> Body<'c> {
    fn read(message: &Message<'c>, buffer: &mut Vec<u8>) -> io::Result<Self> {
        let (values, problem) = read_values(message, buffer)?;
        let endian = if buffer.first() == Some(&b'B') { 'B' } else { 'l' };
        let names = message.argument_names().map(Iterator::collect).unwrap_or_default();
        Ok(Self { endian, values, problem, names })
    }

    /// Makes control characters in texts visible.
    fn escape(&mut self) {
        let values = std::mem::take(&mut self.values).into_iter();
        self.values = values.map(|value| visible::value(value, printable)).collect();
    }

    /// The values with their names.
    fn named(&self) -> impl Iterator<Item = (Option<&'c str>, &Value)> {
        let names = self.names.iter().copied().chain(std::iter::repeat(None));
        names.zip(&self.values)
    }
}

/// What is left of the arguments of a message, and what is wrong with that.
fn read_values(
    message: &Message<'_>,
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
fn push_named(text: &mut String, name: Option<&str>, push: impl FnOnce(&mut String)) {
    let start = text.len();
    push(text);
    if let Some(name) = name {
        let blanks = text[start..].bytes().take_while(|byte| *byte == b' ').count();
        text.insert_str(start + blanks, &format!("{}: ", printable(name)));
    }
}

/// The bus of a message, where there are several.
fn which_bus<'c>(message: &Message<'c>) -> Option<Cow<'c, str>> {
    let capture = message.capture();
    (capture.buses().len() > 1).then(|| capture.bus_label(message.bus()))
}
