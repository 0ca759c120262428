//! The limits of C and of the generated header.

use inspector::introspection::PropertyAccess;

use super::super::model::{Generated, LanguageRules, NameScope};
use super::super::names::snake;

pub(crate) const RULES: LanguageRules = LanguageRules {
    of_arguments: &[OF_ARGUMENTS],
    of_members: &["proxy_on match_properties_changed"],
    of_types: &[],
    result: "ret_",
    derived_from_argument: |name| {
        vec![name.to_owned(), format!("{name}_count"), format!("{name}_data")]
    },
    derived_names,
    // C has one namespace for all functions of a file.
    scope: NameScope::File,
    unsupported: |_| None,
};

fn derived_names(of: &str, kind: Generated<'_>, name: &str) -> Vec<String> {
    let prefix = snake(of, "unnamed");
    let names = match kind {
        Generated::Method => vec![name.to_owned()],
        Generated::Getter(PropertyAccess::Read | PropertyAccess::ReadWrite) => {
            vec![format!("get_{name}")]
        }
        Generated::Setter(PropertyAccess::Write | PropertyAccess::ReadWrite) => {
            vec![format!("set_{name}")]
        }
        Generated::Getter(_) | Generated::Setter(_) => Vec::new(),
        Generated::Signal(_) => vec![format!("match_{name}"), format!("read_{name}")],
    };
    names.into_iter().map(|name| format!("{prefix}_{name}")).collect()
}

/// Keywords of C and C++, predefined macros, and names that the generated functions use. Names that
/// begin with an underscore need no entry, because identifiers from D-Bus never do.
const OF_ARGUMENTS: &str = "\
    alignas alignof and asm assert auto bool break case catch char class const constexpr \
    continue data default delete do double else enum errno error explicit export extern false \
    float for friend goto handler if inline int int16_t int32_t int64_t linux long message \
    mutable namespace new not nullptr operator or private protected proxy public r register \
    ret_reply restrict return sd_bus sd_bus_error sd_bus_message short signed size_t sizeof slot \
    static stderr stdin stdout struct switch template this throw true try typedef typeof \
    typename uint16_t uint32_t uint64_t uint8_t union unix unsigned using virtual void volatile \
    while xor";
