//! One rule of a sandbox.

use alloc::string::{String, ToString};
use core::fmt;

use serde::{Deserialize, Serialize};
use wire::names::{NameError, WellKnownName};

use crate::{AccessLevel, MessagePattern, NameSelector, SandboxRuleError};

/// A right of a program in a sandbox. Its text is an option of xdg-dbus-proxy without the dashes.
///
/// With serde, a rule is its text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SandboxRule {
    /// `see=NAME`, `talk=NAME` or `own=NAME` grants a level.
    Level {
        /// The names to which the program gets access.
        names: NameSelector,
        /// The level of access that the rule grants.
        level: AccessLevel,
    },
    /// `call=NAME=RULE` allows some messages to the owners of names. The names are visible.
    Call {
        /// The names to whose owners the program may send.
        names: NameSelector,
        /// The calls and signals that it may send.
        messages: MessagePattern,
    },
    /// `broadcast=NAME=RULE` allows broadcast signals from the owners of names.
    ///
    /// As with xdg-dbus-proxy, the rule grants [`AccessLevel::Talk`] without the right to send, and
    /// with this level all broadcast signals pass. So `signals` does not restrict them.
    Broadcast {
        /// The names whose owners send the signals.
        names: NameSelector,
        /// The signals that the author of the rule had in mind.
        signals: MessagePattern,
    },
}

impl SandboxRule {
    /// Parses `see=NAME`, `talk=NAME`, `own=NAME`, `call=NAME=RULE` or `broadcast=NAME=RULE`.
    ///
    /// `NAME` is a well-known name, or a well-known name and `.*`. In the last two kinds of rules a
    /// name with `.*` may have a single element, like `org.*`. `RULE` is a [`MessagePattern`].
    ///
    /// # Errors
    ///
    /// If the text does not have one of these forms.
    pub fn parse(text: &str) -> Result<Self, SandboxRuleError> {
        let (keyword, value) = text.split_once('=').unwrap_or((text, ""));
        if let Some(level) = AccessLevel::ALL.into_iter().find(|level| level.keyword() == keyword) {
            return Ok(Self::Level { names: parse_whole_name(value)?, level });
        }
        match keyword {
            CALL => {
                let (names, messages) = parse_name_and_pattern(value)?;
                Ok(Self::Call { names, messages })
            }
            BROADCAST => {
                let (names, signals) = parse_name_and_pattern(value)?;
                Ok(Self::Broadcast { names, signals })
            }
            _ => Err(SandboxRuleError::UnknownKeyword { keyword: keyword.into() }),
        }
    }

    /// Checks that a message can match the pattern of the rule, if it has one.
    ///
    /// # Errors
    ///
    /// As for [`MessagePattern::check`].
    pub fn check(&self) -> Result<(), SandboxRuleError> {
        match self {
            Self::Level { .. } => Ok(()),
            Self::Call { messages: pattern, .. } | Self::Broadcast { signals: pattern, .. } => {
                pattern.check()
            }
        }
    }

    /// A rule that grants the same, and passes [`check`](Self::check): if no message can match,
    /// only the names are visible and their broadcasts pass.
    #[must_use]
    pub fn without_impossible_messages(self) -> Self {
        match self.check() {
            Ok(()) => self,
            Err(_) => {
                let names = self.names().clone();
                Self::Broadcast { names, signals: MessagePattern::ALL }
            }
        }
    }

    /// The names that the rule is about.
    pub const fn names(&self) -> &NameSelector {
        match self {
            Self::Level { names, .. }
            | Self::Call { names, .. }
            | Self::Broadcast { names, .. } => names,
        }
    }

    /// The level that the rule grants for its names.
    pub const fn level(&self) -> AccessLevel {
        match self {
            Self::Level { level, .. } => *level,
            Self::Call { .. } | Self::Broadcast { .. } => AccessLevel::Talk,
        }
    }
}

fn parse_name_and_pattern(value: &str) -> Result<(NameSelector, MessagePattern), SandboxRuleError> {
    let (name, pattern) = value
        .split_once('=')
        .ok_or_else(|| SandboxRuleError::MissingPattern { value: value.into() })?;
    Ok((parse_name(name)?, MessagePattern::parse(pattern)))
}

fn parse_name(text: &str) -> Result<NameSelector, SandboxRuleError> {
    NameSelector::parse(text).map_err(|error| invalid_name(text, error))
}

/// Parses a name. The part before `.*` must be a well-known name, too.
fn parse_whole_name(text: &str) -> Result<NameSelector, SandboxRuleError> {
    let names = parse_name(text)?;
    match WellKnownName::new(names.base()) {
        Ok(_) => Ok(names),
        Err(error) => Err(invalid_name(text, error)),
    }
}

fn invalid_name(text: &str, error: NameError) -> SandboxRuleError {
    let name = text.strip_suffix(".*").unwrap_or(text).into();
    SandboxRuleError::InvalidName { name, error }
}

impl fmt::Display for SandboxRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { names, level } => write!(f, "{level}={names}"),
            Self::Call { names, messages } => write!(f, "{CALL}={names}={messages}"),
            Self::Broadcast { names, signals } => write!(f, "{BROADCAST}={names}={signals}"),
        }
    }
}

impl TryFrom<String> for SandboxRule {
    type Error = SandboxRuleError;

    fn try_from(text: String) -> Result<Self, SandboxRuleError> {
        Self::parse(&text)
    }
}

impl From<SandboxRule> for String {
    fn from(rule: SandboxRule) -> Self {
        rule.to_string()
    }
}

/// The keyword of a rule for messages to an owner.
const CALL: &str = "call";

/// The keyword of a rule for broadcast signals.
const BROADCAST: &str = "broadcast";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_printed_as_they_are_parsed() {
        for (text, level) in [
            ("see=a.b", AccessLevel::See),
            ("talk=a.b.*", AccessLevel::Talk),
            ("own=a.b", AccessLevel::Own),
            ("call=a.b=*", AccessLevel::Talk),
            ("call=org.*=c.d.Get@/x/*", AccessLevel::Talk),
            ("broadcast=a.b.*=c.d.*", AccessLevel::Talk),
            ("broadcast=a.b=@/x=y", AccessLevel::Talk),
        ] {
            let rule = SandboxRule::parse(text).unwrap();
            assert_eq!(rule.to_string(), text);
            assert_eq!(rule.level(), level, "{text}");
            let saved = rmp_serde::to_vec(&rule).unwrap();
            assert_eq!(rmp_serde::from_slice::<SandboxRule>(&saved).unwrap(), rule);
        }
        let rule = SandboxRule::parse("call=a.b=").unwrap();
        assert_eq!(rule.to_string(), "call=a.b=*");
        let saved = rmp_serde::to_vec("talk=org").unwrap();
        assert!(rmp_serde::from_slice::<SandboxRule>(&saved).is_err());
    }

    #[test]
    fn patterns_that_no_message_matches_are_found() {
        for (text, expected) in [
            ("call=a.b=a.b.Get@/x", None),
            ("call=a.b=a.b.*@/*", None),
            ("call=a.b=*", None),
            ("broadcast=a.b=@/x/*", None),
            ("see=a.b", None),
            ("call=a.b=Get", Some("no message has the interface \"Get\": ")),
            ("call=a.b=a.b. Get", Some("no message has the member \" Get\": ")),
            ("call=a.b=a..b.Get", Some("no message has the interface \"a..b\": ")),
            ("broadcast=a.b=@x", Some("no message has the path \"x\": ")),
            ("call=a.b=@/x/**", Some("no message has the path \"/x/**\": ")),
        ] {
            let rule = SandboxRule::parse(text).unwrap();
            match (rule.check(), expected) {
                (Ok(()), None) => assert_eq!(rule.clone().without_impossible_messages(), rule),
                (Err(error), Some(expected)) => {
                    assert!(error.to_string().starts_with(expected), "{text}: {error}");
                    let replacement = rule.clone().without_impossible_messages();
                    assert_eq!(replacement.to_string(), "broadcast=a.b=*");
                    assert_eq!(replacement.level(), rule.level());
                }
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (text, expected) in [
            ("", r#""" is not one of see, talk, own, call and broadcast"#),
            ("hear=a.b", r#""hear" is not one of see, talk, own, call and broadcast"#),
            ("--see=a.b", r#""--see" is not one of see, talk, own, call and broadcast"#),
            ("see", r#""" is not a valid well-known name: the name is empty (at byte 0)"#),
            (
                "talk=:1.5",
                r#"":1.5" is not a valid well-known name: a byte is not allowed in this kind of name (at byte 0)"#,
            ),
            (
                "own=org.*",
                r#""org" is not a valid well-known name: the name has one element, but needs at least two (at byte 3)"#,
            ),
            ("call=.*=*", r#""" is not a valid well-known name: the name is empty (at byte 0)"#),
            ("call=a.b", r#""a.b" is not of the form NAME=RULE"#),
            ("broadcast=a.b.*", r#""a.b.*" is not of the form NAME=RULE"#),
        ] {
            assert_eq!(SandboxRule::parse(text).unwrap_err().to_string(), expected);
        }
    }
}
