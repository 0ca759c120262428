//! Descriptions of a message with its sender and recipient, for refusals and log events.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use wire::message::MessageType;

use super::ContainerDescription;
use crate::well_known::DRIVER_NAME;

/// A message on its way to one recipient. Its text has the format of dbus-daemon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryDescription {
    /// The type of the message.
    pub message_type: MessageType,
    /// The sender of the message.
    pub sender: SenderDescription,
    /// The object path in the header, which is not in the text.
    pub path: Option<Box<str>>,
    /// The interface in the header.
    pub interface: Option<Box<str>>,
    /// The member in the header.
    pub member: Option<Box<str>>,
    /// The error name in the header.
    pub error_name: Option<Box<str>>,
    /// True if the message is the reply to a pending call of its recipient.
    pub is_requested_reply: bool,
    /// The destination in the header.
    pub destination: Option<Box<str>>,
    /// The process of the recipient; `None` for the bus itself and for a service that is not
    /// running.
    pub recipient: Option<ProcessDescription>,
}

/// The sender of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SenderDescription {
    /// The bus itself, or a connection that is gone.
    Bus,
    /// A connection that has not called Hello.
    Unregistered,
    /// A connection with a unique name.
    Peer {
        /// Its unique name on the bus.
        name: Box<str>,
        /// The process of the connection.
        process: ProcessDescription,
    },
}

/// The process of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessDescription {
    /// The user that the connection authenticated as.
    pub uid: Option<u32>,
    /// The process that connected.
    pub pid: Option<u32>,
    /// The command line of the process.
    pub command: Option<Box<str>>,
    /// The security label of the process.
    pub label: Option<Box<[u8]>>,
    /// The container of the connection.
    pub container: Option<Box<ContainerDescription>>,
}

impl fmt::Display for DeliveryDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type=\"{}\", ", self.message_type)?;
        match &self.sender {
            SenderDescription::Bus => write!(f, "sender=\"{UNSET}\" ((bus))")?,
            SenderDescription::Unregistered => write!(f, "sender=\"{NAMELESS}\" (inactive)")?,
            SenderDescription::Peer { name, process } => {
                write!(f, "sender=\"{name}\" ({process})")?;
            }
        }
        write!(
            f,
            " interface=\"{}\" member=\"{}\" error name=\"{}\" requested_reply=\"{}\" \
             destination=\"{}\" ",
            self.interface.as_deref().unwrap_or(UNSET),
            self.member.as_deref().unwrap_or(UNSET),
            self.error_name.as_deref().unwrap_or(UNSET),
            u8::from(self.is_requested_reply),
            self.destination.as_deref().unwrap_or(DRIVER_NAME.as_str()),
        )?;
        match &self.recipient {
            None => f.write_str("(bus)"),
            Some(process) => write!(f, "({process})"),
        }
    }
}

impl fmt::Display for ProcessDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, number) in [("uid", self.uid), (" pid", self.pid)] {
            match number {
                Some(number) => write!(f, "{what}={number}")?,
                None => write!(f, "{what}=?")?,
            }
        }
        let command = self.command.as_deref().map(str::as_bytes);
        for (what, value) in [("comm", command), ("label", self.label.as_deref())] {
            if let Some(value) = value {
                write!(f, " {what}=\"{}\"", printable(value))?;
            }
        }
        match &self.container {
            Some(container) => write!(f, " {container}"),
            None => Ok(()),
        }
    }
}

/// Replaces the characters that would break a line in a text that a peer has chosen.
pub(super) fn printable(text: &[u8]) -> String {
    let replace = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    String::from_utf8_lossy(text).chars().map(replace).collect()
}

/// The name of a connection that has not called Hello, in texts.
const NAMELESS: &str = "(null)";

/// A header field that a message does not have, in texts.
const UNSET: &str = "(unset)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_texts_of_peers_are_replaced() {
        assert_eq!(printable(b"a\nb\x1b[0m\xff"), "a\u{fffd}b\u{fffd}[0m\u{fffd}");
    }
}
