//! The lines of the option `--log`, in the format of xdg-dbus-proxy.

use std::fmt::{self, Write as _};
use std::mem;

use sandbox::AccessLevel;
use wire::Message;
use wire::message::MessageType;

/// Collects lines, if the option is set.
#[derive(Debug)]
pub(super) struct FilterLog {
    is_enabled: bool,
    text: String,
}

impl FilterLog {
    pub(super) const fn new(is_enabled: bool) -> Self {
        Self { is_enabled, text: String::new() }
    }

    pub(super) fn take(&mut self) -> String {
        mem::take(&mut self.text)
    }

    /// Adds a line of text.
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        if self.is_enabled {
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "{line}");
        }
    }

    /// Adds a line about a message of the client.
    pub(super) fn client_message(&mut self, message: &Message<'_>) {
        let all = if message.message_type() == MessageType::Signal { "all" } else { "(no dest)" };
        let peer = message.destination().map_or(all, |name| name.as_str());
        self.message(message, format_args!("C{}: -> {peer}", message.serial()), 'B');
    }

    /// Adds a line about a message from the bus.
    pub(super) fn bus_message(&mut self, message: &Message<'_>) {
        let peer = message.sender().map_or("(no sender)", |name| name.as_str());
        self.message(message, format_args!("B{}: <- {peer}", message.serial()), 'C');
    }

    /// Adds a line about a name in the first argument of a call.
    pub(super) fn refused_name(
        &mut self,
        name: &str,
        level: Option<AccessLevel>,
        required: AccessLevel,
    ) {
        let [level, required] = [level, Some(required)].map(|level| match level {
            None => 0,
            Some(AccessLevel::See) => 1,
            Some(AccessLevel::Talk) => 2,
            Some(AccessLevel::Own) => 3,
        });
        self.line(format_args!(
            "Filtering message due to arg0 {name}, policy: {level} (required {required})"
        ));
    }

    fn message(&mut self, message: &Message<'_>, start: fmt::Arguments<'_>, caller: char) {
        if !self.is_enabled {
            return;
        }
        let call = message.reply_serial().map_or(0, |serial| serial.get());
        match message.message_type() {
            MessageType::MethodReturn => {
                self.line(format_args!("{start} return from {caller}{call}"));
            }
            MessageType::Error => {
                let name = message.error_name().map_or("(no error)", |name| name.as_str());
                self.line(format_args!("{start} return error {name} from {caller}{call}"));
            }
            MessageType::MethodCall | MessageType::Signal => {
                let interface = message.interface().map_or("", |name| name.as_str());
                let member = message.member().map_or("", |name| name.as_str());
                let path = message.path().map_or("", |path| path.as_str());
                let is_call = message.message_type() == MessageType::MethodCall;
                let kind = if is_call { "call" } else { "signal" };
                self.line(format_args!("{start} {kind} {interface}.{member} at {path}"));
            }
            MessageType::Unknown(_) => self.line(format_args!("unknown message type")),
        }
    }
}
