//! The command that sends a message like one that was recorded.

use std::io;

use notation::{busctl, dbus_send, gvariant, signature};
use wire::body::Value;
use wire::message::MessageType;

use super::Body;
use crate::model::Message;

/// A program whose command line, or text, is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// `busctl call` or `busctl emit`
    Busctl,
    /// `gdbus call` or `gdbus emit`
    Gdbus,
    /// `dbus-send`
    DbusSend,
    /// A Python program with PyGObject.
    Python,
    /// The match rule that selects such messages.
    MatchRule,
}

/// Why a message cannot be written as a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Inexpressible {
    /// The recording cannot be read.
    #[error(transparent)]
    Io(io::Error),
    /// The message is a reply whose call is not in the recording, or its type is unknown.
    #[error("it is an answer, and its call is not in the recording")]
    NoCall,
    /// It names no interface, and the program needs one.
    #[error("it names no interface, and the program needs one")]
    NoInterface,
    /// It is cut, redacted or invalid, so its arguments are not known.
    #[error("it is cut, redacted or invalid, so its arguments are not known")]
    NoArguments,
    /// The program cannot express values of this type.
    #[error("dbus-send cannot express {types}; use busctl or gdbus")]
    Type {
        /// The type.
        types: String,
    },
}

/// What a command is made of: a call or a signal.
struct Parts<'c> {
    message: Message<'c>,
    values: Vec<Value>,
    bus: Bus,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bus {
    Session,
    System,
}

impl Command {
    /// The command that sends such a message; of an answer, that which its call is.
    ///
    /// # Errors
    ///
    /// See [`Inexpressible`].
    pub fn of(self, message: &Message<'_>, buffer: &mut Vec<u8>) -> Result<String, Inexpressible> {
        let meant = message.call().unwrap_or(*message);
        if self == Self::MatchRule {
            return Ok(match_rule(message));
        }
        if !matches!(meant.kind(), MessageType::MethodCall | MessageType::Signal) {
            return Err(Inexpressible::NoCall);
        }
        if meant.interface_id().is_none() {
            return Err(Inexpressible::NoInterface);
        }
        let body = Body::read(&meant, buffer).map_err(Inexpressible::Io)?;
        if body.problem.is_some() {
            return Err(Inexpressible::NoArguments);
        }
        let values = body.values;
        let bus = meant.capture().buses().get(usize::from(meant.bus().0));
        let is_system = bus.is_some_and(|bus| bus.name == "system");
        let bus = if is_system { Bus::System } else { Bus::Session };
        let parts = Parts { message: meant, values, bus };
        match self {
            Self::Busctl => Ok(parts.busctl()),
            Self::Gdbus => Ok(parts.gdbus()),
            Self::DbusSend => parts.dbus_send(),
            Self::Python | Self::MatchRule => Ok(parts.python()),
        }
    }
}

impl Parts<'_> {
    fn is_signal(&self) -> bool {
        self.message.kind() == MessageType::Signal
    }

    fn busctl(&self) -> String {
        let message = &self.message;
        let mut words = vec!["busctl", if self.bus == Bus::System { "--system" } else { "--user" }];
        let destination = format!("--destination={}", message.destination());
        if self.is_signal() && !message.destination().is_empty() {
            words.push(&destination);
        }
        let options = words.len();
        match self.is_signal() {
            false => words.extend(["call", message.destination()]),
            true => words.push("emit"),
        }
        words.extend([message.path(), message.interface(), message.member()]);
        let arguments: Vec<_> = self.values.iter().flat_map(busctl::words).collect();

        if !self.values.is_empty() {
            words.push(message.signature());
            // An argument that begins with a dash is no option.
            if arguments.iter().any(|word| word.starts_with('-')) {
                words.insert(options, "--");
            }
        }
        command_line(words.into_iter().chain(arguments.iter().map(String::as_str)))
    }

    fn gdbus(&self) -> String {
        let message = &self.message;
        let bus = if self.bus == Bus::System { "--system" } else { "--session" };
        let member = format!("{}.{}", message.interface(), message.member());
        let mut words = match self.is_signal() {
            true => vec!["gdbus", "emit", bus],
            false => vec!["gdbus", "call", bus],
        };
        if !message.destination().is_empty() {
            words.extend(["--dest", message.destination()]);
        }
        words.extend(["--object-path", message.path()]);
        words.extend([if self.is_signal() { "--signal" } else { "--method" }, &member]);
        let arguments: Vec<_> = self.values.iter().map(gvariant::value).collect();
        if arguments.iter().any(|word| word.starts_with('-')) {
            words.push("--");
        }
        command_line(words.into_iter().chain(arguments.iter().map(String::as_str)))
    }

    fn dbus_send(&self) -> Result<String, Inexpressible> {
        let message = &self.message;
        let bus = if self.bus == Bus::System { "--system" } else { "--session" };
        let kind = if self.is_signal() { "--type=signal" } else { "--print-reply" };
        let mut words = vec!["dbus-send".to_owned(), bus.to_owned(), kind.to_owned()];
        if !message.destination().is_empty() {
            words.push(format!("--dest={}", message.destination()));
        }
        words.push(message.path().to_owned());
        words.push(format!("{}.{}", message.interface(), message.member()));
        for value in &self.values {
            let unknown = || Inexpressible::Type { types: signature(value) };
            words.push(dbus_send::word(value).ok_or_else(unknown)?);
        }
        Ok(command_line(words.iter().map(String::as_str)))
    }

    fn python(&self) -> String {
        let message = &self.message;
        let bus = if self.bus == Bus::System { "SYSTEM" } else { "SESSION" };
        let arguments = match self.values.is_empty() {
            true => String::from("None"),
            false => {
                format!("GLib.Variant.parse(None, {})", python(&gvariant::tuple(&self.values)))
            }
        };
        let names = [message.path(), message.interface(), message.member()].map(python).join(", ");
        let to = match message.destination() {
            "" => String::from("None"),
            name => python(name),
        };
        let send = match self.is_signal() {
            true => format!("bus.emit_signal({to}, {names}, {arguments})\nbus.flush_sync()"),
            false => format!(
                "reply = bus.call_sync({to}, {names}, {arguments}, None, 0, -1, None)\nprint(reply)"
            ),
        };
        format!(
            "from gi.repository import Gio, GLib\n\nbus = Gio.bus_get_sync(Gio.BusType.{bus})\n{send}\n"
        )
    }
}

/// The rule under which a message like this is seen.
fn match_rule(message: &Message<'_>) -> String {
    let capture = message.capture();
    let of_peer = |peer: Option<crate::model::PeerId>| {
        let peer = capture.directory().peer(peer?);
        Some(capture.strings().get(peer.names.first().copied().unwrap_or(peer.unique)))
    };
    let is_error = message.kind() == MessageType::Error;
    let sender = of_peer(message.from()).unwrap_or(message.sender());
    let keys = [
        ("type", message.kind().as_str()),
        ("sender", sender),
        ("path", message.path()),
        ("interface", message.interface()),
        ("member", if is_error { "" } else { message.member() }),
    ];
    let keys = keys.iter().filter(|(_, value)| !value.is_empty());
    let keys: Vec<_> = keys.map(|(key, value)| format!("{key}='{value}'")).collect();
    keys.join(",") + "\n"
}

/// Words as a shell reads them, and a line break.
fn command_line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(shell_word).collect::<Vec<_>>().join(" ") + "\n"
}

/// A word as a shell reads it, in quotes if it needs some.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A text as Python reads it: its strings escape as those of JSON do, but for the rarest
/// characters.
fn python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
