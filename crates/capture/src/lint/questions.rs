//! Which calls only ask.

use wire::message::MessageType;

use crate::model::CapturedMessage;

/// Whether a call is a question, as far as its header and its answer show: the method is named like
/// a question, or it takes nothing and returns something. A call that gets an empty answer has
/// learned nothing, so it was sent for its effect.
pub(super) fn asks(call: &CapturedMessage<'_>) -> bool {
    if keeps_alive(call.member()) {
        return false;
    }
    let is_question = has_asking_name(call.member());
    match call.partner() {
        Some(reply) if reply.kind() == MessageType::MethodReturn => {
            !reply.signature_id().is_none() && (is_question || call.signature_id().is_none())
        }
        _ => is_question,
    }
}

/// Whether the name of a method says that it only asks.
pub(super) fn has_asking_name(method: &str) -> bool {
    let word = first_word(method);
    METHODS.contains(&method) || WORDS.iter().any(|asking| asking.eq_ignore_ascii_case(word))
}

/// Whether the name of a method says that it only shows that both ends are still there.
fn keeps_alive(method: &str) -> bool {
    KEEP_ALIVE.iter().any(|word| word.eq_ignore_ascii_case(first_word(method)))
}

/// The first word of a name: `Get` of `GetItems`, `get` of `get_items`, `GET` of `GETItems`.
fn first_word(name: &str) -> &str {
    let bytes = name.as_bytes();
    let is_upper = |place: usize| bytes[place].is_ascii_uppercase();
    let end = (1..bytes.len()).find_map(|place| match bytes[place] {
        b'A'..=b'Z' if !is_upper(place - 1) => Some(place),
        b'a'..=b'z' if place > 1 && is_upper(place - 1) && is_upper(place - 2) => Some(place - 1),
        b'A'..=b'Z' | b'a'..=b'z' => None,
        _ => Some(place),
    });
    &name[..end.unwrap_or(name.len())]
}

/// First words of the names of methods that only ask.
const WORDS: [&str; 11] = [
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
];

/// Methods that only ask although their names do not begin like it.
const METHODS: [&str; 2] = ["NameHasOwner", "Introspect"];

/// First words of the names of methods that are called only to see whether somebody answers.
const KEEP_ALIVE: [&str; 1] = ["Ping"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_by_the_whole_first_word() {
        for method in [
            "Get",
            "GetAll",
            "getAll",
            "get_all",
            "Get2Things",
            "GETStatus",
            "IsActive",
            "isActive",
            "HasOwner",
            "ListNames",
            "ReadLine",
            "NameHasOwner",
            "Introspect",
            "QueryA",
        ] {
            assert!(has_asking_name(method), "{method}");
        }
        for method in [
            "Getaway",
            "IssueCommand",
            "IsolateUnit",
            "ISOMount",
            "Listen",
            "ReadyFrame",
            "HashBlock",
            "Findings",
            "AcquireLock",
            "Set",
            "SetGet",
            "",
            "introspectAll",
        ] {
            assert!(!has_asking_name(method), "{method}");
        }
    }
}
