//! The names that a rule is about.

use alloc::boxed::Box;
use alloc::format;
use core::fmt;

use wire::names::{NameError, WellKnownName};

/// One well-known name, or a name with all names below it, like `arg0namespace` in a match rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NameSelector {
    base: Box<str>,
    is_subtree: bool,
}

impl NameSelector {
    /// Selects exactly this name.
    pub fn exact(name: WellKnownName<'_>) -> Self {
        Self { base: name.as_str().into(), is_subtree: false }
    }

    /// Selects this name and all names that begin with it and a dot.
    pub fn subtree(name: WellKnownName<'_>) -> Self {
        Self { base: name.as_str().into(), is_subtree: true }
    }

    /// Parses `NAME` or `NAME.*`. Before `.*`, a name may have a single element: `org.*`.
    ///
    /// # Errors
    ///
    /// If the text is not a valid well-known name with or without `.*`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        match text.strip_suffix(SUBTREE) {
            None => WellKnownName::new(text).map(Self::exact),
            Some(base) => {
                // A name with one element is valid here if a second element makes it valid.
                if let Err(error) = WellKnownName::new(base)
                    && (base.contains('.') || WellKnownName::new(&format!("{base}.x")).is_err())
                {
                    return Err(error);
                }
                Ok(Self { base: base.into(), is_subtree: true })
            }
        }
    }

    /// The name without `.*`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// True if this selects the names below the base, too.
    pub const fn is_subtree(&self) -> bool {
        self.is_subtree
    }

    /// Returns true if this selects `name`. Unique names are never selected.
    pub fn selects(&self, name: &str) -> bool {
        match name.strip_prefix(&*self.base) {
            Some("") => true,
            Some(rest) => self.is_subtree && rest.starts_with('.'),
            None => false,
        }
    }
}

impl fmt::Display for NameSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        if self.is_subtree { f.write_str(SUBTREE) } else { Ok(()) }
    }
}

/// The end of a text that selects a subtree.
const SUBTREE: &str = ".*";

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use wire::names::NameErrorKind;

    use super::*;

    #[test]
    fn names_are_selected_exactly_or_with_their_subtree() {
        for (text, selected, not_selected) in [
            ("a.b", &["a.b"][..], &["a", "a.b.c", "a.bc", "a.b.", ":a.b", ""][..]),
            ("a.b.*", &["a.b", "a.b.c", "a.b.c.d"], &["a", "a.bc", "a.c", ":a.b"]),
            ("org.*", &["org", "org.a", "org.a.b"], &["organ.a", "com.org", ":1.2"]),
        ] {
            let selector = NameSelector::parse(text).unwrap();
            assert_eq!(selector.to_string(), text);
            for name in selected {
                assert!(selector.selects(name), "{text} does not select {name:?}");
            }
            for name in not_selected {
                assert!(!selector.selects(name), "{text} selects {name:?}");
            }
        }
    }

    #[test]
    fn only_well_known_names_are_parsed() {
        for (text, kind) in [
            ("", NameErrorKind::Empty),
            ("*", NameErrorKind::InvalidByte),
            (".*", NameErrorKind::Empty),
            ("org", NameErrorKind::SingleElement),
            ("a.b.*.*", NameErrorKind::InvalidByte),
            ("a..*", NameErrorKind::EmptyElement),
            ("a b.*", NameErrorKind::InvalidByte),
            (":1.5", NameErrorKind::InvalidByte),
            (":1.5.*", NameErrorKind::InvalidByte),
            ("a.2", NameErrorKind::LeadingDigit),
        ] {
            assert_eq!(NameSelector::parse(text).unwrap_err().kind, kind, "{text:?}");
        }
    }

    #[test]
    fn selectors_are_also_made_from_names() {
        let name = WellKnownName::literal("a.b");
        assert_eq!(NameSelector::exact(name), NameSelector::parse("a.b").unwrap());
        assert_eq!(NameSelector::subtree(name), NameSelector::parse("a.b.*").unwrap());
        assert!(NameSelector::subtree(name).is_subtree());
        assert_eq!(NameSelector::subtree(name).base(), "a.b");
    }
}
