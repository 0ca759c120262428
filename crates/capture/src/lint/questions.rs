//! Which calls only ask.

use wire::message::MessageType;

use crate::model::Message;

/// Whether a call changes nothing, as far as anybody can tell from outside: its method is called
/// like a question, or it says nothing and is told something. What does something may well be done
/// again.
pub(super) fn asks(call: &Message<'_>) -> bool {
    let is_told = call.partner().is_some_and(|reply| {
        reply.kind() == MessageType::MethodReturn && !reply.signature_id().is_none()
    });
    has_asking_name(call.member()) || (call.signature_id().is_none() && is_told)
}

/// Whether the name of a method says that it only asks.
pub(super) fn has_asking_name(method: &str) -> bool {
    BEGINNINGS.iter().any(|word| method.starts_with(word))
}

/// Beginnings of the names of methods that only ask.
const BEGINNINGS: [&str; 15] = [
    "Get",
    "List",
    "Is",
    "Has",
    "Query",
    "Read",
    "Find",
    "Lookup",
    "Describe",
    "Enumerate",
    "Fetch",
    "NameHasOwner",
    "Introspect",
    "Acquire",
    "Ping",
];
