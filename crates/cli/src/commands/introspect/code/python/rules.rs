//! What Python and the classes have and have not.

use inspector::introspection::Access;

use super::super::model::{Candidate, Made, Rules, Scope, contains};
use super::values::is_descriptor;

pub(in super::super) const RULES: Rules = Rules {
    of_arguments: OF_ARGUMENTS,
    of_members: OF_MEMBERS,
    of_types: &["Any", "Callable", "False", "GLib", "Gio", "None", "Proxy", "True"],
    result: "",
    made_of_argument: |name| vec![name.to_owned()],
    made,
    scope: Scope::Interface,
    refused,
};

fn made(_: &str, made: Made<'_>, name: &str) -> Vec<String> {
    match made {
        Made::Method | Made::Getter(Access::Read | Access::ReadWrite) => vec![name.to_owned()],
        Made::Setter(Access::Write) => vec![format!("set_{name}")],
        Made::Getter(_) | Made::Setter(_) => Vec::new(),
        Made::Signal(_) => vec![format!("connect_{name}")],
    }
}

fn refused(candidate: &Candidate<'_>) -> Option<String> {
    let has_descriptors = candidate.arguments.iter().any(|kind| contains(*kind, is_descriptor));
    match candidate.kind {
        Made::Signal(_) if has_descriptors => {
            Some(String::from("GLib does not tell the descriptors of signals"))
        }
        _ => None,
    }
}

/// Keywords, and what the functions use.
const OF_ARGUMENTS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "bytes", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "warnings",
    "while", "with", "yield",
];

/// Keywords, and what the classes have themselves.
const OF_MEMBERS: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "bus",
    "class",
    "connect_properties_changed",
    "continue",
    "def",
    "del",
    "disconnect",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "path",
    "property",
    "raise",
    "return",
    "service",
    "timeout_ms",
    "try",
    "while",
    "with",
    "yield",
];
