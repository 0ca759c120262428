//! Detection of query calls: calls that only read something.

use wire::message::MessageType;

use crate::model::CapturedMessage;

/// Returns true if the header and the reply of a call suggest that it only reads something: the
/// method has the name of a query, or it has no arguments and returns a value. A call with an empty
/// reply was sent for its effect.
pub(super) fn asks(call: &CapturedMessage<'_>) -> bool {
    if keeps_alive(call.member()) {
        return false;
    }
    let is_question = has_query_name(call.member());
    match call.partner() {
        Some(reply) if reply.kind() == MessageType::MethodReturn => {
            !reply.signature_id().is_none() && (is_question || call.signature_id().is_none())
        }
        _ => is_question,
    }
}

/// Returns true if the name of a method suggests that it only reads something.
pub(super) fn has_query_name(method: &str) -> bool {
    let word = first_word(method);
    METHODS.contains(&method) || WORDS.iter().any(|asking| asking.eq_ignore_ascii_case(word))
}

/// Returns true if the name of a method suggests that it only checks the connection.
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

/// First words of the names of query methods.
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

/// Query methods with other names.
const METHODS: [&str; 2] = ["NameHasOwner", "Introspect"];

/// First words of the names of methods that only check whether the callee replies.
const KEEP_ALIVE: [&str; 1] = ["Ping"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_methods_are_recognized_by_their_whole_first_word() {
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
            assert!(has_query_name(method), "{method}");
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
            assert!(!has_query_name(method), "{method}");
        }
    }
}
