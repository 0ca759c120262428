//! Match rules select the messages that a connection receives ("Match Rules").
//!
//! A [`MatchRule`] is parsed once from its text. Two rules with the same meaning are equal, however
//! they were written, which is what `RemoveMatch` compares; [`Display`](fmt::Display) prints the
//! one canonical spelling, which `GetAllMatchRules` returns.
//!
//! ```
//! use diligence_wire::match_rule::{MatchRule, PathMatch};
//!
//! let rule: MatchRule = "path_namespace=/org/example, type='signal'".parse()?;
//! assert_eq!(rule.path(), Some(PathMatch::Namespace("/org/example")));
//! assert_eq!(rule.to_string(), "type='signal',path_namespace='/org/example'");
//! assert_eq!(rule, "type=signal,path_namespace='/org/example',".parse()?);
//! # Ok::<(), diligence_wire::match_rule::MatchRuleError>(())
//! ```
//!
//! A rule is matched against a [`MatchSubject`], so that a bus can look up the current owner of a
//! well-known name, and reads the arguments only if the other keys match.
//!
//! The grammar is that in the specification. The reference implementation differs in details: a
//! backslash escapes a comma, only 16 keys are read, parsing stops at a key with an empty name, and
//! `arg007` is accepted. Here a backslash escapes only an apostrophe, all keys count, and the last
//! two are errors.

mod error;
mod parse;
#[cfg(feature = "serde")]
mod saved;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use core::str::FromStr;

pub use error::{MatchRuleError, MatchRuleErrorKind};

use crate::message::MessageType;

/// The messages that a connection wants: a message must match every key of the rule.
///
/// The rule without keys is the [`Default`]; it matches every message.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MatchRule {
    message_type: Option<MessageType>,
    sender: Option<Box<str>>,
    interface: Option<Box<str>>,
    member: Option<Box<str>>,
    path: Option<OwnedPath>,
    destination: Option<Box<str>>,
    reach: Reach,
    args: Vec<ArgRule>,
}

impl MatchRule {
    /// Parses a rule of at most [`MATCH_RULE_LEN_MAX`] bytes.
    ///
    /// # Errors
    ///
    /// If the text is longer, or violates one of the rules in [`MatchRuleErrorKind`].
    pub fn parse(text: &str) -> Result<Self, MatchRuleError> {
        parse::parse(text)
    }

    /// Returns true if the rule matches `message`.
    ///
    /// Only the keys of the rule count. The bus must check separately that a message with a
    /// destination is only for eavesdroppers: see [`eavesdrops`](Self::eavesdrops).
    pub fn matches(&self, message: &impl MatchSubject) -> bool {
        self.message_type.is_none_or(|expected| expected == message.message_type())
            && agrees(&self.member, message.member())
            && agrees(&self.interface, message.interface())
            && self
                .path()
                .is_none_or(|expected| message.path().is_some_and(|p| expected.selects(p)))
            && self.sender().is_none_or(|name| message.is_sender(name))
            && self.destination().is_none_or(|name| message.is_destination(name))
            && self.args.iter().all(|expected| expected.selects(message.arg(expected.index)))
    }

    /// The value of `type`, which is never [`MessageType::Unknown`].
    pub fn message_type(&self) -> Option<MessageType> {
        self.message_type
    }

    /// `sender`, a unique or well-known bus name.
    pub fn sender(&self) -> Option<&str> {
        self.sender.as_deref()
    }

    /// The value of `interface`, if the rule has it.
    pub fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// The value of `member`, if the rule has it.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// The value of `path` or `path_namespace`; a rule has at most one of them.
    pub fn path(&self) -> Option<PathMatch<'_>> {
        Some(match self.path.as_ref()? {
            OwnedPath::Exact(path) => PathMatch::Exact(path),
            OwnedPath::Namespace(path) => PathMatch::Namespace(path),
        })
    }

    /// `destination`, a unique or well-known bus name.
    pub fn destination(&self) -> Option<&str> {
        self.destination.as_deref()
    }

    /// The rules about arguments, sorted by index, at most one for each argument.
    pub fn args(&self) -> &[ArgRule] {
        &self.args
    }

    /// The same rule without its keys about arguments.
    #[must_use]
    pub fn without_args(self) -> Self {
        Self { args: Vec::new(), ..self }
    }

    /// `eavesdrop='true'`: true if the rule also matches messages that are addressed to others.
    pub fn eavesdrops(&self) -> bool {
        self.reach == Reach::Everything
    }
}

impl FromStr for MatchRule {
    type Err = MatchRuleError;

    fn from_str(text: &str) -> Result<Self, MatchRuleError> {
        Self::parse(text)
    }
}

impl fmt::Display for MatchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = RuleKeyWriter { f, separator: "" };
        keys.key("type", self.message_type.map(MessageType::as_str))?;
        keys.key("interface", self.interface())?;
        keys.key("member", self.member())?;
        match self.path() {
            Some(PathMatch::Exact(path)) => keys.key("path", Some(path))?,
            Some(PathMatch::Namespace(path)) => keys.key("path_namespace", Some(path))?,
            None => {}
        }
        keys.key("sender", self.sender())?;
        keys.key("destination", self.destination())?;
        keys.key("eavesdrop", self.eavesdrops().then_some("true"))?;
        self.args.iter().try_for_each(|arg| keys.key(arg, Some(&arg.value)))
    }
}

/// The objects that a rule selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathMatch<'a> {
    /// `path`: exactly this object.
    Exact(&'a str),
    /// `path_namespace`: this object and all of its descendants.
    Namespace(&'a str),
}

impl PathMatch<'_> {
    /// Returns true if a message from or to the object `path` matches.
    pub fn selects(self, path: &str) -> bool {
        match self {
            Self::Exact(expected) => path == expected,
            Self::Namespace("/") => true,
            Self::Namespace(expected) => is_at_or_below(path, expected, '/'),
        }
    }
}

/// A rule about one argument: `arg0`, `arg3path`, `arg0namespace`.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArgRule {
    /// The index of the argument, counted from 0; at most [`ARG_INDEX_MAX`].
    #[cfg_attr(feature = "serde", serde(deserialize_with = "restore_index"))]
    pub index: u8,
    /// The kind of comparison.
    pub how: ArgMatch,
    /// The value to compare with.
    pub value: Box<str>,
}

impl ArgRule {
    /// Returns true if an argument matches; a message without this argument does not match.
    pub fn selects(&self, arg: Option<MatchArgument<'_>>) -> bool {
        let expected = &*self.value;
        match (self.how, arg) {
            (ArgMatch::Equal, Some(MatchArgument::String(found))) => found == expected,
            (
                ArgMatch::Path,
                Some(MatchArgument::String(found) | MatchArgument::ObjectPath(found)),
            ) => found == expected || is_under(found, expected) || is_under(expected, found),
            (ArgMatch::Namespace, Some(MatchArgument::String(found))) => {
                is_at_or_below(found, expected, '.')
            }
            (_, None | Some(MatchArgument::ObjectPath(_) | MatchArgument::Other)) => false,
        }
    }
}

/// Restores the index of an argument. Greater ones are not counted by the index of the bus.
#[cfg(feature = "serde")]
fn restore_index<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let index = <u8 as serde::Deserialize>::deserialize(deserializer)?;
    if index > ARG_INDEX_MAX {
        return Err(serde::de::Error::custom("the index of an argument is too great"));
    }
    Ok(index)
}

/// Formats the key of the rule: `arg2path`.
impl fmt::Display for ArgRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arg{}{}", self.index, self.how.suffix())
    }
}

/// How an argument is compared.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgMatch {
    /// `arg0`: a STRING that is equal to the value.
    Equal,
    /// `arg0path`: a STRING or OBJECT_PATH that is equal to the value, or one of the two ends with
    /// `/` and is a prefix of the other.
    Path,
    /// `arg0namespace`: a STRING that is equal to the value, or continues after it with a dot.
    Namespace,
}

impl ArgMatch {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::Path => "path",
            Self::Namespace => "namespace",
        }
    }
}

/// An argument of a message, as match rules see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchArgument<'a> {
    /// An argument of type STRING.
    String(&'a str),
    /// An argument of type OBJECT_PATH.
    ObjectPath(&'a str),
    /// An argument of any other type, which no rule can match.
    Other,
}

/// A message to match, as its router sees it.
pub trait MatchSubject {
    /// The type of the message.
    fn message_type(&self) -> MessageType;

    /// The object from which the message comes or to which it goes.
    fn path(&self) -> Option<&str>;

    /// The interface, if the message has one.
    fn interface(&self) -> Option<&str>;

    /// The name of the method or signal.
    fn member(&self) -> Option<&str>;

    /// Returns true if the sender is the connection that has `name`, a unique or well-known name.
    fn is_sender(&self, name: &str) -> bool;

    /// Returns true if the message is addressed to the connection that has `name`.
    fn is_destination(&self, name: &str) -> bool;

    /// The argument with this index, if the message has it.
    fn arg(&self, index: u8) -> Option<MatchArgument<'_>>;
}

/// Maximum bytes in the text of a rule. A bus replies to a longer one with `LimitsExceeded`.
pub const MATCH_RULE_LEN_MAX: usize = 1024;

/// The highest index of an argument in a rule.
pub const ARG_INDEX_MAX: u8 = 63;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum OwnedPath {
    Exact(Box<str>),
    Namespace(Box<str>),
}

/// The range of messages that a rule can match, before its keys are checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Reach {
    /// Only messages without a destination.
    #[default]
    Broadcasts,
    /// Also messages that are addressed to others.
    Everything,
}

/// Formats `key='value'`, separated by commas.
struct RuleKeyWriter<'w, 'f> {
    f: &'w mut fmt::Formatter<'f>,
    separator: &'static str,
}

impl RuleKeyWriter<'_, '_> {
    fn key(&mut self, name: impl fmt::Display, value: Option<&str>) -> fmt::Result {
        let Some(value) = value else { return Ok(()) };
        let separator = core::mem::replace(&mut self.separator, ",");
        write!(self.f, "{separator}{name}='")?;
        for character in value.chars() {
            match character {
                // Closes the quotes, adds an escaped apostrophe, and opens the quotes again.
                '\'' => self.f.write_str("'\\''")?,
                other => self.f.write_char(other)?,
            }
        }
        self.f.write_char('\'')
    }
}

fn agrees(expected: &Option<Box<str>>, found: Option<&str>) -> bool {
    expected.as_deref().is_none_or(|expected| found == Some(expected))
}

fn is_at_or_below(name: &str, ancestor: &str, separator: char) -> bool {
    let rest = name.strip_prefix(ancestor);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}

/// Returns true if `directory` ends with a slash and is a prefix of `path`.
fn is_under(path: &str, directory: &str) -> bool {
    directory.ends_with('/') && path.starts_with(directory)
}
