//! Every way in which a text fails to be a match rule.

use core::fmt;

use super::{ARG_INDEX_MAX, MATCH_RULE_LEN_MAX};
use crate::names::NameError;

/// Why a text is no match rule, and at which byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchRuleError {
    /// Which rule of the grammar the text breaks.
    pub kind: MatchRuleErrorKind,
    /// Offset in bytes from the start of the text: of the key if the key is wrong, of the value if
    /// the value is.
    pub at: usize,
}

/// What can be wrong with a match rule.
///
/// A bus answers [`TooLong`](Self::TooLong) with `LimitsExceeded` and all others with
/// `MatchRuleInvalid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MatchRuleErrorKind {
    /// The text is longer than [`MATCH_RULE_LEN_MAX`].
    TooLong {
        /// Bytes in the text.
        len: usize,
    },
    /// A key has no `=` after it.
    MissingEquals,
    /// Nothing stands before the `=`.
    EmptyKey,
    /// An apostrophe begins a quotation that nothing ends.
    UnbalancedQuote,
    /// No such key.
    UnknownKey,
    /// A key is given twice.
    DuplicateKey,
    /// Both `path` and `path_namespace` are given.
    PathWithNamespace,
    /// `arg` without a number.
    MissingArgNumber,
    /// The number after `arg` begins with a needless zero.
    ArgNumberLeadingZero,
    /// The number after `arg` is above [`ARG_INDEX_MAX`].
    ArgNumberTooLarge,
    /// The number after `arg` is followed by neither `path` nor `namespace`.
    UnknownArgSuffix,
    /// `namespace` for another argument than the first.
    NamespaceOfLaterArg,
    /// Two keys ask about this argument.
    DuplicateArg(u8),
    /// The type is none of the four.
    InvalidType,
    /// `sender` is no bus name.
    InvalidSender(NameError),
    /// `interface` is no interface name.
    InvalidInterface(NameError),
    /// `member` is no member name.
    InvalidMember(NameError),
    /// `path` or `path_namespace` is no object path.
    InvalidPath(NameError),
    /// `destination` is no bus name.
    InvalidDestination(NameError),
    /// `arg0namespace` is nothing that a bus name can begin with.
    InvalidNamespace(NameError),
    /// `eavesdrop` is neither `true` nor `false`.
    InvalidEavesdrop,
}

impl MatchRuleErrorKind {
    pub(super) const fn at(self, at: usize) -> MatchRuleError {
        MatchRuleError { kind: self, at }
    }
}

impl fmt::Display for MatchRuleErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong { len } => {
                return write!(
                    f,
                    "the match rule has {len} bytes, and {MATCH_RULE_LEN_MAX} are allowed"
                );
            }
            Self::MissingEquals => "the key must be followed by '='",
            Self::EmptyKey => "the key is missing before '='",
            Self::UnbalancedQuote => "the quotation has no end",
            Self::UnknownKey => "there is no such key",
            Self::DuplicateKey => "the key is given twice",
            Self::PathWithNamespace => "\"path\" and \"path_namespace\" exclude each other",
            Self::MissingArgNumber => "\"arg\" must be followed by a number, as in \"arg0\"",
            Self::ArgNumberLeadingZero => "the argument's number must not begin with a zero",
            Self::ArgNumberTooLarge => {
                return write!(f, "the argument's number must be at most {ARG_INDEX_MAX}");
            }
            Self::UnknownArgSuffix => {
                "only \"path\" or \"namespace\" may follow the argument's number"
            }
            Self::NamespaceOfLaterArg => "\"namespace\" is for argument 0 only",
            Self::DuplicateArg(index) => {
                return write!(f, "two keys ask about argument {index}");
            }
            Self::InvalidType => {
                "\"type\" must be \"method_call\", \"method_return\", \"error\" or \"signal\""
            }
            Self::InvalidSender(error) => return write!(f, "\"sender\" is no bus name: {error}"),
            Self::InvalidInterface(error) => {
                return write!(f, "\"interface\" is no interface name: {error}");
            }
            Self::InvalidMember(error) => {
                return write!(f, "\"member\" is no member name: {error}");
            }
            Self::InvalidPath(error) => return write!(f, "the path is no object path: {error}"),
            Self::InvalidDestination(error) => {
                return write!(f, "\"destination\" is no bus name: {error}");
            }
            Self::InvalidNamespace(error) => {
                return write!(f, "\"arg0namespace\" cannot begin a bus name: {error}");
            }
            Self::InvalidEavesdrop => "\"eavesdrop\" must be \"true\" or \"false\"",
        })
    }
}

impl fmt::Display for MatchRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.at)
    }
}

impl core::error::Error for MatchRuleError {}
