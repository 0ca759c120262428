//! Queries for the messages that a finding is about.

use super::finding::FindingParty;
use super::traffic::CheckedTraffic;
use crate::model::CapturedMessage;

/// Selects messages from the sender of this one.
pub(super) fn sent_by(lint: &CheckedTraffic<'_>, message: &CapturedMessage<'_>) -> String {
    term("from", &lint.party(lint.sender(message)))
}

/// Selects calls of one method by one caller.
pub(super) fn calls(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> String {
    format!("{} {}", sent_by(lint, call), calls_to(lint, call))
}

/// Selects calls of one method by any caller.
pub(super) fn calls_to(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> String {
    format!("{} member:{}", term("to", &lint.party(lint.callee(call))), call.member())
}

/// Selects calls like this one that waited longer than `longer` for a service to start.
pub(super) fn waits_for(name: &str, call: &CapturedMessage<'_>, longer: &str) -> String {
    match call.destination() == name {
        true => format!("to:{name} dur>{longer}"),
        false => format!("member:{} arg0:{name} dur>{longer}", call.member()),
    }
}

/// Selects signals of one member by one sender.
pub(super) fn signals(lint: &CheckedTraffic<'_>, signal: &CapturedMessage<'_>) -> String {
    format!("{} type:signal member:{}", sent_by(lint, signal), signal.member())
}

/// Builds a query term that matches a party.
pub(super) fn term(field: &str, party: &FindingParty) -> String {
    let name = if party.stable == "-" { &party.label } else { &party.stable };
    if name.contains(|c: char| c.is_whitespace() || "()'\"".contains(c)) {
        return format!("{field}:\"{name}\"");
    }
    format!("{field}:{name}")
}
