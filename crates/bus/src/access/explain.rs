//! The texts about access that is denied, in the words of dbus-daemon.

use alloc::format;
use alloc::string::String;

use super::{AccessQuery, DeniedBy, RuleSide};
use crate::policy::Reply;
use crate::registry::{Peer, Registry};
use crate::types::{BusError, ErrorKind, PeerId};
use crate::well_known::DRIVER_NAME;

/// The error for the sender of a message that may not pass.
pub(super) fn explain(
    denied_by: &DeniedBy,
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> BusError {
    let why = match denied_by {
        DeniedBy::Rules { side: RuleSide::Sender, count } => {
            counted_rules("Rejected send message", *count)
        }
        DeniedBy::Rules { side: RuleSide::Recipient, count } => {
            counted_rules("Rejected receive message", *count)
        }
        DeniedBy::Module(objection) => objection.about_message(),
    };
    ErrorKind::AccessDenied.because(describe_delivery(&why, query, registry))
}

/// The beginning of a text about a message that rules deny, or would deny.
pub(super) fn counted_rules(what: &str, rules: usize) -> String {
    format!("{what}, {rules} matched rules")
}

/// The sentence of dbus-daemon about a message that may not pass, or only just.
pub(crate) fn describe_delivery(
    what: &str,
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> String {
    let message = query.message;
    let peer = |id: Option<PeerId>| id.and_then(|id| registry.get(id));
    let sender = peer(query.from);
    format!(
        "{what}; type=\"{}\", sender=\"{}\" ({}) interface=\"{}\" \
         member=\"{}\" error name=\"{}\" requested_reply=\"{}\" destination=\"{}\" ({})",
        message.message_type(),
        sender.map_or(UNSET, |sender| sender.unique_name().unwrap_or(NAMELESS)),
        match sender {
            None => String::from("(bus)"),
            Some(sender) if !sender.is_registered() => String::from("inactive"),
            Some(sender) => describe_process(sender),
        },
        message.interface().map_or(UNSET, |name| name.as_str()),
        message.member().map_or(UNSET, |name| name.as_str()),
        message.error_name().map_or(UNSET, |name| name.as_str()),
        u8::from(query.reply == Reply::Requested),
        message.destination().map_or(DRIVER_NAME.as_str(), |name| name.as_str()),
        peer(query.to).map_or_else(|| String::from("bus"), describe_process),
    )
}

/// The process of a connection, as error texts name it.
pub(crate) fn describe_process(peer: &Peer) -> String {
    let number = |n: Option<u32>| n.map_or_else(|| String::from("?"), |n| format!("{n}"));
    let mut text = format!("uid={} pid={}", number(peer.user), number(peer.credentials.pid));
    let attributes = peer.attributes();
    let command = attributes.and_then(|it| it.command.as_deref()).map(str::as_bytes);
    let label = attributes.and_then(|it| it.label.as_deref());
    for (what, value) in [("comm", command), ("label", label)] {
        if let Some(value) = value {
            text.push_str(&format!(" {what}=\"{}\"", printable(value)));
        }
    }
    text
}

/// A text that a peer has chosen, without characters that would break a line.
fn printable(text: &[u8]) -> String {
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
