//! Messages as texts that people and programs know.
//!
//! [`MessageFormat`] has the forms of busctl, gdbus and dbus-send, to the byte where those tools print the
//! same, and JSON; [`MessageLines`] has a line for each message that fits a terminal. [`SendCommand`] makes of a message
//! the command that sends the like. [`CallDetails`] is all that is known of one call, with where its time went.
//!
//! What the tools do not print, as gdbus replies, is in the style of what they do. Where a recording
//! has what objects say about themselves, arguments have their names in front, which no tool prints.

mod body;
mod busctl;
mod command;
mod dbus_send;
mod details;
mod gvariant;
mod json;
mod line;

use std::borrow::Cow;
use std::io;

pub use command::{CommandBus, CommandKind, CommandParts, Inexpressible, SendCommand, shell_word};
pub use details::CallDetails;
pub use line::{Knowledge, LineClock, MessageLineEntry, MessageLines};

use crate::model::CapturedMessage;
use crate::text::visible;
use body::{ShownBody, read_values};

/// A form in which messages are shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageFormat {
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

impl MessageFormat {
    /// Appends a message to a text, with the end of its last line. `buffer` is used for its bytes.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn push(
        self,
        text: &mut String,
        message: &CapturedMessage<'_>,
        buffer: &mut Vec<u8>,
        controls: Controls,
    ) -> io::Result<()> {
        let mut body = ShownBody::read(message, buffer)?;
        let start = text.len();
        if controls == Controls::Escaped && self.prints_texts_raw() {
            body.escape();
        }
        match self {
            Self::Busctl => busctl::push(text, message, &body),
            Self::Gdbus => gvariant::push_message(text, message, &body),
            Self::DbusSend => dbus_send::push(text, message, &body),
            Self::Json => json::push(text, message, &body, json::JsonArgumentShape::Busctl),
            Self::Lossless => json::push(text, message, &body, json::JsonArgumentShape::Lossless),
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

/// What a message says as JSON: a list of its arguments, as [`MessageFormat::Json`] has them under `data`.
/// `None` if it is cut, redacted or invalid. `buffer` is room for its bytes.
///
/// # Errors
///
/// If the recording cannot be read.
pub fn arguments_as_json(
    message: &CapturedMessage<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<String>> {
    let (values, problem) = read_values(message, buffer)?;
    Ok(problem.is_none().then(|| notation::busctl::json_list(&values)))
}
