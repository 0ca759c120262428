//! Errors of parsing match rules ("Match Rules").

use core::fmt;

use super::{ARG_INDEX_MAX, MATCH_RULE_LEN_MAX};
use crate::names::NameError;

/// The reason why a text is not a match rule, and the byte at which it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchRuleError {
    /// The rule of the grammar that the text violates.
    pub kind: MatchRuleErrorKind,
    /// Offset in bytes from the start of the text: of the key if the key is wrong, of the value if
    /// the value is.
    pub at: usize,
}

/// The ways in which a match rule can be invalid.
///
/// A bus replies to [`TooLong`](Self::TooLong) with `LimitsExceeded` and to all others with
/// `MatchRuleInvalid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MatchRuleErrorKind {
    /// The text is longer than [`MATCH_RULE_LEN_MAX`].
    TooLong {
        /// Bytes in the text.
        len: usize,
    },
    /// A key is not followed by `=`.
    MissingEquals,
    /// The text before the `=` is empty.
    EmptyKey,
    /// A quotation has no closing apostrophe.
    UnbalancedQuote,
    /// The specification does not define the key.
    UnknownKey,
    /// A key is given twice.
    DuplicateKey,
    /// Both `path` and `path_namespace` are given.
    PathWithNamespace,
    /// `arg` is not followed by a number.
    MissingArgNumber,
    /// The number after `arg` has a leading zero.
    ArgNumberLeadingZero,
    /// The number after `arg` is above [`ARG_INDEX_MAX`].
    ArgNumberTooLarge,
    /// The text after the number of `arg` is not `path` or `namespace`.
    UnknownArgSuffix,
    /// `namespace` for another argument than the first.
    NamespaceOfLaterArg,
    /// Two keys are about this argument.
    DuplicateArg(u8),
    /// The type is not one of the four.
    InvalidType,
    /// The value of `sender` is not a bus name.
    InvalidSender(NameError),
    /// The value of `interface` is not an interface name.
    InvalidInterface(NameError),
    /// The value of `member` is not a member name.
    InvalidMember(NameError),
    /// The value of `path` or `path_namespace` is not an object path.
    InvalidPath(NameError),
    /// The value of `destination` is not a bus name.
    InvalidDestination(NameError),
    /// The value of `arg0namespace` is not the beginning of a bus name.
    InvalidNamespace(NameError),
    /// The value of `eavesdrop` is not `true` or `false`.
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
            Self::UnbalancedQuote => "the quotation is not closed",
            Self::UnknownKey => "the key is unknown",
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
                return write!(f, "more than one key tests argument {index}");
            }
            Self::InvalidType => {
                "\"type\" must be \"method_call\", \"method_return\", \"error\" or \"signal\""
            }
            Self::InvalidSender(error) => {
                return write!(f, "\"sender\" is not a valid bus name: {error}");
            }
            Self::InvalidInterface(error) => {
                return write!(f, "\"interface\" is not a valid interface name: {error}");
            }
            Self::InvalidMember(error) => {
                return write!(f, "\"member\" is not a valid member name: {error}");
            }
            Self::InvalidPath(error) => {
                return write!(f, "the path is not a valid object path: {error}");
            }
            Self::InvalidDestination(error) => {
                return write!(f, "\"destination\" is not a valid bus name: {error}");
            }
            Self::InvalidNamespace(error) => {
                return write!(f, "\"arg0namespace\" is not a valid start of a bus name: {error}");
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
