//! Queries for the messages that a finding is about.

use super::finding::FindingParty;
use super::traffic::CheckedTraffic;
use crate::model::CapturedMessage;

/// Messages of the sender of this one.
pub(super) fn sent_by(lint: &CheckedTraffic<'_>, message: &CapturedMessage<'_>) -> String {
    term("from", &lint.who(lint.sender(message)))
}

/// Calls of one method by one caller.
pub(super) fn calls(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> String {
    format!("{} {}", sent_by(lint, call), calls_to(lint, call))
}

/// Calls of one method by anybody.
pub(super) fn calls_to(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> String {
    format!("{} member:{}", term("to", &lint.who(lint.callee(call))), call.member())
}

/// Calls that waited longer than this for a service to start, as one of them did.
pub(super) fn waits_for(name: &str, call: &CapturedMessage<'_>, longer: &str) -> String {
    match call.destination() == name {
        true => format!("to:{name} dur>{longer}"),
        false => format!("member:{} arg0:{name} dur>{longer}", call.member()),
    }
}

/// Signals of one member by one sender.
pub(super) fn signals(lint: &CheckedTraffic<'_>, signal: &CapturedMessage<'_>) -> String {
    format!("{} type:signal member:{}", sent_by(lint, signal), signal.member())
}

/// A field that names somebody.
pub(super) fn term(field: &str, who: &FindingParty) -> String {
    let name = if who.stable == "-" { &who.label } else { &who.stable };
    if name.contains(|c: char| c.is_whitespace() || "()'\"".contains(c)) {
        return format!("{field}:\"{name}\"");
    }
    format!("{field}:{name}")
}
