//! Messages in the formats of other tools, for people and programs.
//!
//! [`MessageFormat`] has the formats of busctl, gdbus and dbus-send, byte for byte where those
//! tools print the same, and JSON. [`MessageLines`] formats each message as a line that fits a
//! terminal. [`SendCommand`] generates a command that sends a message like a recorded one.
//! [`CallDetails`] formats everything that is known about one call, with the time spent in each
//! phase.
//!
//! Messages that a tool does not print, such as replies in gdbus, follow the style of those it
//! prints. If a recording contains introspection data, arguments are preceded by their names, which
//! no tool prints.

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

use crate::model::{CapturedMessage, MessageBuffer};
use crate::text::visible;
use body::{ShownBody, read_values};

/// A format in which messages are shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageFormat {
    /// The format of `busctl monitor`, with times in UTC.
    Busctl,
    /// The format of `gdbus monitor`: a line for each message, with values as GVariant text.
    Gdbus,
    /// The format of `dbus-monitor`, and of replies in `dbus-send --print-reply`.
    DbusSend,
    /// The format of `busctl --json=short monitor`, with additional keys after its own: `number`,
    /// `size`, `bus`, `sender_name`, `destination_name`, `process`, `duration_ns`, `partner`,
    /// `recipients`, `in_bus`, `arguments`, `problem`.
    Json,
    /// The same keys, but `data` is a list of [`notation::json::TypedValue`], which preserves all
    /// types.
    Lossless,
}

impl MessageFormat {
    /// Appends a message, including the end of its last line. `buffer` holds its bytes temporarily.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn push(
        self,
        text: &mut String,
        message: &CapturedMessage<'_>,
        buffer: &mut MessageBuffer,
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

    /// Returns true if the format contains texts unchanged. The other formats have their own
    /// escapes.
    const fn prints_texts_raw(self) -> bool {
        match self {
            Self::Busctl | Self::DbusSend => true,
            Self::Gdbus | Self::Json | Self::Lossless => false,
        }
    }
}

/// The treatment of control characters in texts that peers chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controls {
    /// Control characters stay if the tool with this format prints them. For programs.
    Raw,
    /// Control characters are escaped ([`visible`]). For terminals.
    Escaped,
}

/// Returns the arguments of a message as a JSON list, like `data` in [`MessageFormat::Json`].
/// `None` if the message is cut, redacted or invalid. `buffer` holds its bytes temporarily.
///
/// # Errors
///
/// If the recording cannot be read.
pub fn arguments_as_json(
    message: &CapturedMessage<'_>,
    buffer: &mut MessageBuffer,
) -> io::Result<Option<String>> {
    let (values, problem) = read_values(message, buffer)?;
    Ok(problem.is_none().then(|| notation::busctl::json_list(&values)))
}
