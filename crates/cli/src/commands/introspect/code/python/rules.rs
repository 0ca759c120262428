//! The limits of Python and of the generated classes.

use inspector::introspection::PropertyAccess;

use super::super::model::{Generated, LanguageRules, MemberTypes, NameScope, contains};
use super::values::is_descriptor;

pub(crate) const RULES: LanguageRules = LanguageRules {
    // The generated functions use these words.
    of_arguments: &[KEYWORDS, "bytes self warnings"],
    // The generated classes define these members.
    of_members: &[
        KEYWORDS,
        "bus connect_properties_changed disconnect path property service timeout_ms",
    ],
    of_types: &["Any Callable False GLib Gio None Proxy True"],
    result: "",
    derived_from_argument: |name| vec![name.to_owned()],
    derived_names,
    scope: NameScope::Interface,
    unsupported,
};

fn derived_names(_: &str, kind: Generated<'_>, name: &str) -> Vec<String> {
    match kind {
        Generated::Method | Generated::Getter(PropertyAccess::Read | PropertyAccess::ReadWrite) => {
            vec![name.to_owned()]
        }
        Generated::Setter(PropertyAccess::Write) => vec![format!("set_{name}")],
        Generated::Getter(_) | Generated::Setter(_) => Vec::new(),
        Generated::Signal(_) => vec![format!("connect_{name}")],
    }
}

fn unsupported(candidate: &MemberTypes<'_>) -> Option<String> {
    let has_descriptors = candidate.arguments.iter().any(|kind| contains(*kind, is_descriptor));
    match candidate.kind {
        Generated::Signal(_) if has_descriptors => {
            Some(String::from("GLib does not provide the descriptors of signals"))
        }
        _ => None,
    }
}

/// The reserved keywords of Python.
const KEYWORDS: &str = "\
    and as assert async await break class continue def del elif else except finally for from \
    global if import in is lambda nonlocal not or pass raise return try while with yield";
