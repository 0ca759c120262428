//! Commands that send a call or signal, such as a recorded one.

use std::borrow::Cow;
use std::io;

use notation::{busctl, dbus_send, gvariant, signature};
use wire::body::Value;
use wire::message::MessageType;

use super::body::ShownBody;
use crate::model::{CapturedMessage, MessageBuffer};
use crate::text::visible::is_unsafe;

/// The kinds of commands and texts that can be generated for a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SendCommand {
    /// A command line of `busctl call` or `busctl emit`.
    Busctl,
    /// A command line of `gdbus call` or `gdbus emit`.
    Gdbus,
    /// A command line of `dbus-send`.
    DbusSend,
    /// A Python program with PyGObject.
    Python,
    /// The match rule that selects such messages.
    MatchRule,
}

/// The reasons why a message cannot be written as a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Inexpressible {
    /// The recording cannot be read.
    #[error(transparent)]
    Io(io::Error),
    /// The message is a reply whose call is not in the recording, or its type is unknown.
    #[error("it is a reply whose call is not in the recording")]
    NoCall,
    /// The message has no interface, which the program requires.
    #[error("it has no interface, which the program requires")]
    NoInterface,
    /// The message is cut, redacted or invalid, so its arguments are unknown.
    #[error("it is cut, redacted or invalid, so its arguments are unknown")]
    NoArguments,
    /// The program cannot express values of this type.
    #[error("dbus-send cannot express {types}; use busctl or gdbus")]
    Type {
        /// The signature of the value.
        types: String,
    },
}

/// The parts of a call or signal that a command sends.
#[derive(Clone, Copy, Debug)]
pub struct CommandParts<'p> {
    /// The kind of the message: a call or a signal.
    pub kind: CommandKind,
    /// The bus to send it to.
    pub bus: CommandBus<'p>,
    /// The destination; empty for a broadcast signal.
    pub destination: &'p str,
    /// The path of the object.
    pub path: &'p str,
    /// The name of the interface.
    pub interface: &'p str,
    /// The name of the method or signal.
    pub member: &'p str,
    /// The signature of the arguments.
    pub signature: &'p str,
    /// The values of the arguments.
    pub values: &'p [Value],
}

/// The type of message that a command sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// A method call with a reply.
    Call,
    /// A signal, sent to its destination or broadcast.
    Signal,
}

/// The bus that a command connects to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandBus<'p> {
    /// The session bus of the user.
    Session,
    /// The system bus of the machine.
    System,
    /// The bus at this address.
    Address(&'p str),
}

impl SendCommand {
    /// Returns the command that sends a message like this one; for a reply, the command for its
    /// call.
    ///
    /// # Errors
    ///
    /// If the message cannot be written as a command: see [`Inexpressible`].
    pub fn of(
        self,
        message: &CapturedMessage<'_>,
        buffer: &mut MessageBuffer,
    ) -> Result<String, Inexpressible> {
        let sent = message.call().unwrap_or(*message);
        if self == Self::MatchRule {
            return Ok(match_rule(message));
        }
        if !matches!(sent.kind(), MessageType::MethodCall | MessageType::Signal) {
            return Err(Inexpressible::NoCall);
        }
        if sent.interface_id().is_none() {
            return Err(Inexpressible::NoInterface);
        }
        let body = ShownBody::read(&sent, buffer).map_err(Inexpressible::Io)?;
        if body.problem.is_some() {
            return Err(Inexpressible::NoArguments);
        }
        let bus = sent.capture().buses().get(usize::from(sent.bus().0));
        let is_system = bus.is_some_and(|bus| bus.name == "system");
        let is_signal = sent.kind() == MessageType::Signal;
        let parts = CommandParts {
            kind: if is_signal { CommandKind::Signal } else { CommandKind::Call },
            bus: if is_system { CommandBus::System } else { CommandBus::Session },
            destination: sent.destination(),
            path: sent.path(),
            interface: sent.interface(),
            member: sent.member(),
            signature: sent.signature(),
            values: &body.values,
        };
        match self {
            Self::Busctl => Ok(parts.busctl()),
            Self::Gdbus => Ok(parts.gdbus()),
            Self::DbusSend => parts.dbus_send(),
            Self::Python | Self::MatchRule => Ok(parts.python()),
        }
    }
}

impl CommandParts<'_> {
    fn is_signal(&self) -> bool {
        self.kind == CommandKind::Signal
    }

    /// Returns the busctl command line that sends the message.
    pub fn busctl(&self) -> String {
        let bus = match self.bus {
            CommandBus::Session => "--user".to_owned(),
            CommandBus::System => "--system".to_owned(),
            CommandBus::Address(address) => format!("--address={address}"),
        };
        let mut words = vec!["busctl", &bus];
        let destination = format!("--destination={}", self.destination);
        if self.is_signal() && !self.destination.is_empty() {
            words.push(&destination);
        }
        let options = words.len();
        match self.is_signal() {
            false => words.extend(["call", self.destination]),
            true => words.push("emit"),
        }
        words.extend([self.path, self.interface, self.member]);
        let arguments: Vec<_> = self.values.iter().flat_map(busctl::words).collect();

        if !self.values.is_empty() {
            words.push(self.signature);
            // Without this, busctl treats arguments that begin with a dash as options.
            if arguments.iter().any(|word| word.starts_with('-')) {
                words.insert(options, "--");
            }
        }
        command_line(words.into_iter().chain(arguments.iter().map(String::as_str)))
    }

    /// Returns the gdbus command line that sends the message.
    pub fn gdbus(&self) -> String {
        let member = format!("{}.{}", self.interface, self.member);
        let mut words = vec!["gdbus", if self.is_signal() { "emit" } else { "call" }];
        match self.bus {
            CommandBus::Session => words.push("--session"),
            CommandBus::System => words.push("--system"),
            CommandBus::Address(address) => words.extend(["--address", address]),
        }
        if !self.destination.is_empty() {
            words.extend(["--dest", self.destination]);
        }
        words.extend(["--object-path", self.path]);
        words.extend([if self.is_signal() { "--signal" } else { "--method" }, &member]);
        let arguments: Vec<_> = self.values.iter().map(gvariant::value).collect();
        if arguments.iter().any(|word| word.starts_with('-')) {
            words.push("--");
        }
        command_line(words.into_iter().chain(arguments.iter().map(String::as_str)))
    }

    fn dbus_send(&self) -> Result<String, Inexpressible> {
        let bus = match self.bus {
            CommandBus::Session => "--session".to_owned(),
            CommandBus::System => "--system".to_owned(),
            CommandBus::Address(address) => format!("--bus={address}"),
        };
        let kind = if self.is_signal() { "--type=signal" } else { "--print-reply" };
        let mut words = vec!["dbus-send".to_owned(), bus, kind.to_owned()];
        if !self.destination.is_empty() {
            words.push(format!("--dest={}", self.destination));
        }
        words.push(self.path.to_owned());
        words.push(format!("{}.{}", self.interface, self.member));
        for value in self.values {
            let unknown = || Inexpressible::Type { types: signature(value) };
            words.push(dbus_send::word(value).ok_or_else(unknown)?);
        }
        Ok(command_line(words.iter().map(String::as_str)))
    }

    fn python(&self) -> String {
        let bus = match self.bus {
            CommandBus::Session => "Gio.bus_get_sync(Gio.BusType.SESSION)".to_owned(),
            CommandBus::System => "Gio.bus_get_sync(Gio.BusType.SYSTEM)".to_owned(),
            CommandBus::Address(address) => format!(
                "Gio.DBusConnection.new_for_address_sync({}, \
                 Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | \
                 Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)",
                python(address)
            ),
        };
        let arguments = match self.values.is_empty() {
            true => String::from("None"),
            false => {
                format!("GLib.Variant.parse(None, {})", python(&gvariant::tuple(self.values)))
            }
        };
        let names = [self.path, self.interface, self.member].map(python).join(", ");
        let to = match self.destination {
            "" => String::from("None"),
            name => python(name),
        };
        let send = match self.is_signal() {
            true => format!("bus.emit_signal({to}, {names}, {arguments})\nbus.flush_sync()"),
            false => format!(
                "reply = bus.call_sync({to}, {names}, {arguments}, None, 0, -1, None)\nprint(reply)"
            ),
        };
        format!("from gi.repository import Gio, GLib\n\nbus = {bus}\n{send}\n")
    }
}

/// The match rule that selects messages like this one.
fn match_rule(message: &CapturedMessage<'_>) -> String {
    let capture = message.capture();
    let of_peer = |peer: Option<crate::model::RecordedPeerId>| {
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

/// Quotes words for a POSIX shell, and appends a newline.
fn command_line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(shell_word).collect::<Vec<_>>().join(" ") + "\n"
}

/// Quotes a word for a shell, if necessary. Characters that are invisible or change the direction
/// of text are written as octal escapes, so that the command does nothing that a reader cannot see.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    if !word.contains(is_unsafe) {
        return format!("'{}'", word.replace('\'', "'\\''")).into();
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_unsafe(c) => {
                let bytes = c.to_string().into_bytes();
                quoted.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted.into()
}

/// A text as Python literal. The escapes of JSON are valid in Python, except for the rarest
/// characters.
fn python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
