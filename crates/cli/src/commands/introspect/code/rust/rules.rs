//! The limits of Rust and of the libraries.

use inspector::introspection::PropertyAccess;
use wire::signature::Type;

use super::super::model::{Generated, LanguageRules, MemberTypes, NameScope, contains};
use super::super::names::has_word;

pub(super) const OF_DILIGENCE: LanguageRules = LanguageRules {
    // Methods with descriptors have a parameter of this name.
    of_arguments: &[KEYWORDS, "descriptors"],
    // Proxies define these functions.
    of_members: &[KEYWORDS, "at new properties property_changes proxy"],
    of_types: &[
        "CallError HashMap ObjectPath ObjectPathBuf OwnedFd ReceivedMessage Result Self Signature \
         SignatureBuf String UnixFd Value Vec",
    ],
    result: "",
    derived_from_argument: |name| vec![name.to_owned()],
    derived_names: derived_names_of_diligence,
    scope: NameScope::Interface,
    unsupported: |candidate| unsupported(candidate, TUPLE_MAX_OF_DILIGENCE),
};

pub(super) const OF_ZBUS: LanguageRules = LanguageRules {
    of_arguments: &[KEYWORDS],
    // Proxies of zbus define these functions.
    of_members: &[KEYWORDS, "builder inner into_inner new"],
    of_types: &["HashMap Self"],
    result: "",
    derived_from_argument: |name| vec![name.to_owned()],
    derived_names: derived_names_of_zbus,
    scope: NameScope::Interface,
    unsupported: unsupported_by_zbus,
};

fn derived_names_of_diligence(_: &str, kind: Generated<'_>, name: &str) -> Vec<String> {
    match kind {
        Generated::Method | Generated::Getter(PropertyAccess::Read | PropertyAccess::ReadWrite) => {
            vec![name.to_owned()]
        }
        Generated::Setter(PropertyAccess::Write | PropertyAccess::ReadWrite) => {
            vec![format!("set_{name}")]
        }
        Generated::Getter(_) | Generated::Setter(_) => Vec::new(),
        // The function in the declaration, and the function of the proxy.
        Generated::Signal(_) => vec![name.to_owned(), format!("subscribe_{name}")],
    }
}

fn derived_names_of_zbus(_: &str, kind: Generated<'_>, name: &str) -> Vec<String> {
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

/// The limits of zbus, which generates types from the names of signals.
fn unsupported_by_zbus(candidate: &MemberTypes<'_>) -> Option<String> {
    match candidate.kind {
        Generated::Signal(member)
            if has_word(TAKEN_TYPES, member) || has_word(KEYWORDS, member) =>
        {
            Some(String::from("zbus would generate a type with a reserved name"))
        }
        _ => unsupported(candidate, TUPLE_MAX_OF_ZBUS),
    }
}

fn unsupported(candidate: &MemberTypes<'_>, tuple_max: usize) -> Option<String> {
    let MemberTypes { arguments, results, .. } = candidate;
    if arguments.len() > tuple_max || results.len() > tuple_max {
        return Some(format!("the library supports at most {tuple_max} arguments"));
    }
    let all = || arguments.iter().chain(*results).copied();
    if all().any(|kind| largest_struct(kind) > tuple_max) {
        let text = format!("the library supports tuples of at most {tuple_max} fields");
        return Some(text);
    }
    let has_keys = all().any(|kind| contains(kind, has_odd_keys));
    has_keys.then(|| String::from("Rust maps do not support keys of this type"))
}

/// The number of fields of the largest struct in a type.
fn largest_struct(kind: Type<'_>) -> usize {
    let (own, inside) = match kind {
        Type::Struct(fields) => (fields.types().count(), fields),
        Type::Array(inside) | Type::DictEntry(inside) => (0, inside),
        _ => return 0,
    };
    inside.types().map(largest_struct).fold(own, usize::max)
}

fn has_odd_keys(kind: Type<'_>) -> bool {
    let Type::DictEntry(types) = kind else { return false };
    matches!(types.types().next(), Some(Type::Double | Type::UnixFd | Type::Variant))
}

/// The maximum number of fields of a tuple for which the libraries implement their traits.
const TUPLE_MAX_OF_DILIGENCE: usize = 12;
const TUPLE_MAX_OF_ZBUS: usize = 16;

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
