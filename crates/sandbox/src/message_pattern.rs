//! The messages that a rule is about.

use alloc::boxed::Box;
use core::fmt;

use wire::Message;
use wire::names::{InterfaceName, MemberName, ObjectPath};

use crate::SandboxRuleError;

/// Selects messages by their path, interface and member. Parts that are `None` select everything.
///
/// Its text is `[METHOD][@PATH]`. The parts of a message are compared as texts, so a pattern with
/// an invalid name selects no message:
///
/// | text | selects |
/// | --- | --- |
/// | empty, `@`, or anything that begins with `*` and has no path | all messages |
/// | `a.b.*` | messages with the interface `a.b` |
/// | `a.b.C` | messages with the interface `a.b` and the member `C`; never an interface `a.b.C` |
/// | `Word` | messages with the interface `Word`; there are none, because an interface has a dot |
/// | `@/a` | messages with the path `/a` |
/// | `@/a/*` | messages with the path `/a` or a path below it |
/// | `@/*` | messages with any path |
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MessagePattern {
    /// The paths of the selected messages.
    pub path: Option<PathPattern>,
    /// The interface of the selected messages. It may be an invalid name.
    pub interface: Option<Box<str>>,
    /// The member of the selected messages. It may be an invalid name.
    pub member: Option<Box<str>>,
}

impl MessagePattern {
    /// The pattern that selects all messages.
    pub const ALL: Self = Self { path: None, interface: None, member: None };

    /// Parses `[METHOD][@PATH]`. Every text is a pattern.
    pub fn parse(text: &str) -> Self {
        let (method, path) = text.split_once('@').unwrap_or((text, ""));
        let (interface, member) = if method.is_empty() || method.starts_with('*') {
            (None, None)
        } else {
            match method.rsplit_once('.') {
                Some((interface, "*")) => (Some(interface), None),
                Some((interface, member)) => (Some(interface), Some(member)),
                None => (Some(method), None),
            }
        };
        Self {
            path: (!path.is_empty()).then(|| PathPattern::parse(path)),
            interface: interface.map(Into::into),
            member: member.map(Into::into),
        }
    }

    /// Checks that a message can match: that interface, member and path are valid.
    ///
    /// # Errors
    ///
    /// [`SandboxRuleError::ImpossibleMessage`] with the first part that no message can have.
    pub fn check(&self) -> Result<(), SandboxRuleError> {
        let impossible = |part: &'static str, text: &str| {
            let text = text.into();
            move |error| SandboxRuleError::ImpossibleMessage { part, text, error }
        };
        if let Some(text) = &self.interface {
            InterfaceName::new(text).map_err(impossible("interface", text))?;
        }
        if let Some(text) = &self.member {
            MemberName::new(text).map_err(impossible("member", text))?;
        }
        if let Some(PathPattern::Exact(text) | PathPattern::Subtree(text)) = &self.path
            && !text.is_empty()
        {
            ObjectPath::new(text).map_err(impossible("path", text))?;
        }
        Ok(())
    }

    /// Returns true if this selects `message`.
    pub fn matches(&self, message: &Message<'_>) -> bool {
        let has = |wanted: &Option<Box<str>>, value: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| value == Some(wanted))
        };
        has(&self.interface, message.interface().map(|name| name.as_str()))
            && has(&self.member, message.member().map(|name| name.as_str()))
            && self.path.as_ref().is_none_or(|pattern| {
                message.path().is_some_and(|path| pattern.selects(path.as_str()))
            })
    }
}

/// Writes the shortest text that stands for this pattern, or `*` for all messages.
impl fmt::Display for MessagePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.interface, &self.path) {
            (Some(interface), _) => {
                write!(f, "{interface}.{}", self.member.as_deref().unwrap_or("*"))?;
            }
            (None, None) => f.write_str("*")?,
            (None, Some(_)) => {}
        }
        self.path.as_ref().map_or(Ok(()), |path| write!(f, "@{path}"))
    }
}

/// Selects object paths: one, or a subtree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PathPattern {
    /// Selects exactly this path.
    Exact(Box<str>),
    /// Selects this path and all paths below it. It is empty if the text is `/*`.
    Subtree(Box<str>),
}

impl PathPattern {
    /// Parses `PATH` or `PATH/*`. Every text is a pattern; it may be an invalid path.
    pub fn parse(text: &str) -> Self {
        match text.strip_suffix("/*") {
            Some(base) => Self::Subtree(base.into()),
            None => Self::Exact(text.into()),
        }
    }

    /// Returns true if this selects `path`.
    pub fn selects(&self, path: &str) -> bool {
        match self {
            Self::Exact(wanted) => path == &**wanted,
            Self::Subtree(base) => path
                .strip_prefix(&**base)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(path) => f.write_str(path),
            Self::Subtree(base) => write!(f, "{base}/*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::num::NonZeroU32;

    use super::*;
    use wire::message::Builder;

    #[test]
    fn every_text_is_a_pattern() {
        let exact = |path: &str| Some(PathPattern::Exact(path.into()));
        let subtree = |path: &str| Some(PathPattern::Subtree(path.into()));
        for (text, path, interface, member, written) in [
            ("", None, None, None, "*"),
            ("*", None, None, None, "*"),
            ("@", None, None, None, "*"),
            ("*@", None, None, None, "*"),
            ("*.Get", None, None, None, "*"),
            ("a.b.*", None, Some("a.b"), None, "a.b.*"),
            ("a.b.Get", None, Some("a.b"), Some("Get"), "a.b.Get"),
            ("a.b.Get@", None, Some("a.b"), Some("Get"), "a.b.Get"),
            ("a.*", None, Some("a"), None, "a.*"),
            ("Get", None, Some("Get"), None, "Get.*"),
            ("a.b.", None, Some("a.b"), Some(""), "a.b."),
            (".Get", None, Some(""), Some("Get"), ".Get"),
            (".*", None, Some(""), None, ".*"),
            ("a.b.*.*", None, Some("a.b.*"), None, "a.b.*.*"),
            ("a.b.*c", None, Some("a.b"), Some("*c"), "a.b.*c"),
            ("@/", exact("/"), None, None, "@/"),
            ("*@/a", exact("/a"), None, None, "@/a"),
            ("@/a/*", subtree("/a"), None, None, "@/a/*"),
            ("@/*", subtree(""), None, None, "@/*"),
            ("@/a*", exact("/a*"), None, None, "@/a*"),
            ("@*", exact("*"), None, None, "@*"),
            ("@a/*", subtree("a"), None, None, "@a/*"),
            ("@/a@/b", exact("/a@/b"), None, None, "@/a@/b"),
            ("a.b.Get@/a/*", subtree("/a"), Some("a.b"), Some("Get"), "a.b.Get@/a/*"),
        ] {
            let pattern = MessagePattern::parse(text);
            let expected = MessagePattern {
                path,
                interface: interface.map(Into::into),
                member: member.map(Into::into),
            };
            assert_eq!(pattern, expected, "{text:?}");
            assert_eq!(pattern.to_string(), written, "{text:?}");
            assert_eq!(MessagePattern::parse(written), pattern, "{text:?}");
        }
    }

    #[test]
    fn patterns_select_by_path_interface_and_member() {
        // The messages: `path interface member`, with `-` for a call without an interface.
        for (text, selected, not_selected) in [
            ("*", &["/ - Get", "/a a.b Get"][..], &[][..]),
            ("a.b.*", &["/ a.b Get", "/a a.b Set"], &["/ a.b.c Get", "/ - Get", "/ a.c Get"]),
            ("a.b.Get", &["/ a.b Get"], &["/ a.b Set", "/ - Get", "/ a.b.Get X"]),
            ("a.b.c", &["/ a.b c"], &["/ a.b.c Get"]),
            ("Get", &[], &["/ a.Get Get", "/ - Get"]),
            ("a.b.", &[], &["/ a.b Get"]),
            ("@/a", &["/a a.b Get", "/a - Get"], &["/ a.b Get", "/a/b a.b Get", "/ab a.b Get"]),
            ("@/a/*", &["/a - Get", "/a/b a.b Get", "/a/b/c a.b Get"], &["/ - Get", "/ab - Get"]),
            ("@/*", &["/ - Get", "/a a.b Get"], &[]),
            ("@/", &["/ - Get"], &["/a - Get"]),
            ("@a/*", &[], &["/ - Get", "/a - Get"]),
            ("@/a//*", &[], &["/a - Get", "/a/b - Get"]),
            ("a.b.Get@/a/*", &["/a/b a.b Get"], &["/b a.b Get", "/a a.b Set", "/a a.c Get"]),
        ] {
            let pattern = MessagePattern::parse(text);
            for (messages, expected) in [(selected, true), (not_selected, false)] {
                for message in messages {
                    assert_eq!(matches(&pattern, message), expected, "{text:?} {message:?}");
                }
            }
        }
    }

    fn matches(pattern: &MessagePattern, message: &str) -> bool {
        let mut words = message.split(' ');
        let mut word = || words.next().unwrap();
        let path = ObjectPath::new(word()).unwrap();
        let interface = Some(word()).filter(|word| *word != "-");
        let mut call = Builder::method_call(path, MemberName::new(word()).unwrap());
        if let Some(interface) = interface {
            call = call.interface(InterfaceName::new(interface).unwrap());
        }
        let mut bytes = Vec::new();
        call.write(&mut bytes, NonZeroU32::MIN, &()).unwrap();
        pattern.matches(&Message::parse(&bytes).unwrap())
    }
}
