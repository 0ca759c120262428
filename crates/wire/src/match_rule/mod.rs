//! Match rules: which messages a connection asks to see ("Match Rules").
//!
//! A [`MatchRule`] is read once from its text. Two rules that ask for the same compare equal,
//! however they were written, which is what `RemoveMatch` goes by; [`Display`](fmt::Display) gives
//! the one canonical spelling, in which `GetAllMatchRules` lists them.
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
//! Whether a rule selects a message is asked through [`MatchSubject`], so that a bus can say who
//! owns a well-known name now, and read the arguments only if a rule comes that far.
//!
//! The grammar is that of the specification. The reference implementation differs from it in small
//! things: it lets a backslash hide a comma, reads no more than 16 keys, stops at a key with an
//! empty name and accepts `arg007`. Here a backslash hides nothing but an apostrophe, all keys
//! count, and the last two are errors.

mod error;
mod parse;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use core::str::FromStr;

pub use error::{MatchRuleError, MatchRuleErrorKind};

use crate::message::MessageType;

/// What a connection asks to see: a message must agree with every key that the rule has.
///
/// The rule without keys is the [`Default`]; it agrees with every message.
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
    /// Reads a rule of at most [`MATCH_RULE_LEN_MAX`] bytes.
    pub fn parse(text: &str) -> Result<Self, MatchRuleError> {
        parse::parse(text)
    }

    /// Whether the rule selects `message`.
    ///
    /// The rule's keys alone decide. That a message with a destination is for those who eavesdrop
    /// only is the bus's affair: see [`eavesdrops`](Self::eavesdrops).
    pub fn matches(&self, message: &impl MatchSubject) -> bool {
        self.message_type.is_none_or(|wanted| wanted == message.message_type())
            && agrees(&self.member, message.member())
            && agrees(&self.interface, message.interface())
            && self.path().is_none_or(|wanted| message.path().is_some_and(|p| wanted.selects(p)))
            && self.sender().is_none_or(|name| message.is_sender(name))
            && self.destination().is_none_or(|name| message.is_destination(name))
            && self.args.iter().all(|wanted| wanted.selects(message.arg(wanted.index)))
    }

    /// `type`; never [`MessageType::Unknown`].
    pub fn message_type(&self) -> Option<MessageType> {
        self.message_type
    }

    /// `sender`, a unique or well-known bus name.
    pub fn sender(&self) -> Option<&str> {
        self.sender.as_deref()
    }

    /// `interface`
    pub fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// `member`
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// `path` or `path_namespace`; a rule has not both.
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

    /// The rules on arguments, by ascending index, at most one for each.
    pub fn args(&self) -> &[ArgRule] {
        &self.args
    }

    /// The same rule for messages with any arguments.
    #[must_use]
    pub fn without_args(self) -> Self {
        Self { args: Vec::new(), ..self }
    }

    /// `eavesdrop='true'`: whether the rule is also for messages that are addressed to others.
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

/// The object that a rule asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathMatch<'a> {
    /// `path`: this object.
    Exact(&'a str),
    /// `path_namespace`: this object and all below it.
    Namespace(&'a str),
}

impl PathMatch<'_> {
    /// Whether a message from or to the object `path` agrees.
    pub fn selects(self, path: &str) -> bool {
        match self {
            Self::Exact(wanted) => path == wanted,
            Self::Namespace("/") => true,
            Self::Namespace(wanted) => is_at_or_below(path, wanted, '/'),
        }
    }
}

/// What a rule asks of one argument: `arg0`, `arg3path`, `arg0namespace`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArgRule {
    /// Which argument, counted from 0; at most [`ARG_INDEX_MAX`].
    pub index: u8,
    /// How to compare it.
    pub how: ArgMatch,
    /// What to compare it with.
    pub value: Box<str>,
}

impl ArgRule {
    /// Whether an argument agrees; a message that has no such argument does not.
    pub fn selects(&self, arg: Option<MatchArgument<'_>>) -> bool {
        let wanted = &*self.value;
        match (self.how, arg) {
            (ArgMatch::Equal, Some(MatchArgument::String(found))) => found == wanted,
            (
                ArgMatch::Path,
                Some(MatchArgument::String(found) | MatchArgument::ObjectPath(found)),
            ) => found == wanted || is_under(found, wanted) || is_under(wanted, found),
            (ArgMatch::Namespace, Some(MatchArgument::String(found))) => {
                is_at_or_below(found, wanted, '.')
            }
            (_, None | Some(MatchArgument::ObjectPath(_) | MatchArgument::Other)) => false,
        }
    }
}

/// The rule's key: `arg2path`.
impl fmt::Display for ArgRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arg{}{}", self.index, self.how.suffix())
    }
}

/// How to compare an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgMatch {
    /// `arg0`: a STRING equal to the value.
    Equal,
    /// `arg0path`: a STRING or OBJECT_PATH that is equal to the value, or one of the two ends in
    /// `/` and begins the other.
    Path,
    /// `arg0namespace`: a STRING that is the value or goes on after it with a dot.
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

/// An argument of a message, as far as rules can see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchArgument<'a> {
    /// Of type STRING.
    String(&'a str),
    /// Of type OBJECT_PATH.
    ObjectPath(&'a str),
    /// Of any other type, which no rule can match.
    Other,
}

/// A message about to be matched, as its router sees it.
pub trait MatchSubject {
    /// The type.
    fn message_type(&self) -> MessageType;

    /// The object it comes from or goes to.
    fn path(&self) -> Option<&str>;

    /// The interface, if it names one.
    fn interface(&self) -> Option<&str>;

    /// The method or signal.
    fn member(&self) -> Option<&str>;

    /// Whether its sender is the connection that `name`, unique or well-known, stands for now.
    fn is_sender(&self, name: &str) -> bool;

    /// Whether it is addressed to the connection that `name` stands for now.
    fn is_destination(&self, name: &str) -> bool;

    /// The argument with this index, if the message has so many.
    fn arg(&self, index: u8) -> Option<MatchArgument<'_>>;
}

/// Bytes in the text of a rule. A bus answers a longer one with `LimitsExceeded`.
pub const MATCH_RULE_LEN_MAX: usize = 1024;

/// The highest argument that a rule can ask about.
pub const ARG_INDEX_MAX: u8 = 63;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum OwnedPath {
    Exact(Box<str>),
    Namespace(Box<str>),
}

/// Which messages a rule is for, before its keys are asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Reach {
    /// Those that are addressed to nobody.
    #[default]
    Broadcasts,
    /// Those that are addressed to others, too.
    Everything,
}

/// Writes `key='value'`, with commas between.
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
                // The quotes end, an apostrophe stands outside of them, and they begin again.
                '\'' => self.f.write_str("'\\''")?,
                other => self.f.write_char(other)?,
            }
        }
        self.f.write_char('\'')
    }
}

fn agrees(wanted: &Option<Box<str>>, found: Option<&str>) -> bool {
    wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
}

fn is_at_or_below(name: &str, ancestor: &str, separator: char) -> bool {
    let rest = name.strip_prefix(ancestor);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}

/// Whether `directory` ends in a slash and `path` begins with it.
fn is_under(path: &str, directory: &str) -> bool {
    directory.ends_with('/') && path.starts_with(directory)
}
