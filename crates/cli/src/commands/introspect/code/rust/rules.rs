//! The limits of Rust and zbus.

use inspector::introspection::PropertyAccess;
use wire::signature::Type;

use super::super::model::{Generated, LanguageRules, MemberTypes, NameScope, contains};
use super::super::names::has_word;

pub(crate) const RULES: LanguageRules = LanguageRules {
    of_arguments: &[KEYWORDS],
    // Proxies of zbus define these functions.
    of_members: &[KEYWORDS, "builder inner into_inner new"],
    of_types: &["HashMap Self"],
    result: "",
    derived_from_argument: |name| vec![name.to_owned()],
    derived_names,
    scope: NameScope::Interface,
    unsupported,
};

fn derived_names(_: &str, kind: Generated<'_>, name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    match kind {
        Generated::Method => {}
        Generated::Getter(PropertyAccess::Read | PropertyAccess::ReadWrite) => {
            names.extend([format!("cached_{name}"), format!("receive_{name}_changed")]);
        }
        Generated::Setter(PropertyAccess::Write | PropertyAccess::ReadWrite) => {
            return vec![format!("set_{name}")];
        }
        Generated::Getter(_) | Generated::Setter(_) => return Vec::new(),
        Generated::Signal(_) => {
            names.extend([format!("receive_{name}"), format!("receive_{name}_with_args")]);
        }
    }
    names
}

fn unsupported(candidate: &MemberTypes<'_>) -> Option<String> {
    let MemberTypes { kind, arguments, results } = candidate;
    if arguments.len() > TUPLE_MAX || results.len() > TUPLE_MAX {
        return Some(format!("zbus supports at most {TUPLE_MAX} arguments"));
    }
    let all = || arguments.iter().chain(*results).copied();
    if all().any(|kind| contains(kind, is_large)) {
        return Some(format!(
            "Rust implements no traits for tuples of more than {TUPLE_MAX} fields"
        ));
    }
    if all().any(|kind| contains(kind, has_odd_keys)) {
        return Some(String::from("Rust maps do not support keys of this type"));
    }
    match kind {
        Generated::Signal(member)
            if has_word(TAKEN_TYPES, member) || has_word(KEYWORDS, member) =>
        {
            Some(String::from("zbus would generate a type with a reserved name"))
        }
        _ => None,
    }
}

fn is_large(kind: Type<'_>) -> bool {
    matches!(kind, Type::Struct(fields) if fields.types().count() > TUPLE_MAX)
}

fn has_odd_keys(kind: Type<'_>) -> bool {
    let Type::DictEntry(types) = kind else { return false };
    matches!(types.types().next(), Some(Type::Double | Type::UnixFd | Type::Variant))
}

/// The maximum number of tuple fields for which the standard library and zbus implement traits.
const TUPLE_MAX: usize = 16;

/// The keywords of Rust, including reserved ones.
pub(super) const KEYWORDS: &str = "\
    Self _ abstract as async await become box break const continue crate do dyn else enum extern \
    false final fn for gen if impl in let loop macro match mod move mut override priv pub ref \
    return self static struct super trait true try type typeof unsafe unsized use virtual where \
    while yield";

/// Types that the traits and the code from zbus use.
const TAKEN_TYPES: &str = "\
    Err HashMap None Ok Option Result Some String Vec bool f64 i16 i32 i64 std str u16 u32 u64 \
    u8 zbus";
