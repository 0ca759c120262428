//! The reasons why a text is not a rule.

use alloc::boxed::Box;
use core::fmt;

use wire::names::NameError;

/// The reason why a text is not a rule of a sandbox.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SandboxRuleError {
    /// The text does not begin with the keyword of a rule and an equals sign.
    UnknownKeyword {
        /// The text before the first equals sign.
        keyword: Box<str>,
    },
    /// The rule does not name a valid well-known name.
    InvalidName {
        /// The text instead of the name, without `.*` at its end.
        name: Box<str>,
        /// The violated rule of the grammar of names.
        error: NameError,
    },
    /// A call or broadcast rule has a name, but no second equals sign with a pattern after it.
    MissingPattern {
        /// The text after the first equals sign.
        value: Box<str>,
    },
    /// No message has the interface, the member or the path of a pattern. With xdg-dbus-proxy, such
    /// a rule allows nothing.
    ImpossibleMessage {
        /// The kind of the part.
        part: &'static str,
        /// The text of the part in the pattern.
        text: Box<str>,
        /// The violated rule of the grammar of names.
        error: NameError,
    },
}

impl fmt::Display for SandboxRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKeyword { keyword } => {
                write!(f, "{keyword:?} is not one of see, talk, own, call and broadcast")
            }
            Self::InvalidName { name, error } => {
                write!(f, "{name:?} is not a valid well-known name: {error}")
            }
            Self::ImpossibleMessage { part, text, error } => {
                write!(f, "no message has the {part} {text:?}: {error}")
            }
            Self::MissingPattern { value } => {
                write!(f, "{value:?} is not of the form NAME=RULE")
            }
        }
    }
}

impl core::error::Error for SandboxRuleError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::InvalidName { error, .. } | Self::ImpossibleMessage { error, .. } => Some(error),
            Self::UnknownKeyword { .. } | Self::MissingPattern { .. } => None,
        }
    }
}
