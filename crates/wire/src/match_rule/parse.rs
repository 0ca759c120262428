//! Parses the text of a match rule.
//!
//! A rule is `key=value`, separated by commas. Inside apostrophes every character stands for
//! itself; outside, a comma ends the value and `\'` is an apostrophe.

use alloc::boxed::Box;
use alloc::string::String;

use super::{
    ARG_INDEX_MAX, ArgMatch, ArgRule, MATCH_RULE_LEN_MAX, MatchRule, MatchRuleError,
    MatchRuleErrorKind as Kind, OwnedPath, Reach,
};
use crate::message::MessageType;
use crate::names::{BusName, InterfaceName, MemberName, NameError, NameErrorKind, ObjectPath};

pub(super) fn parse(text: &str) -> Result<MatchRule, MatchRuleError> {
    if text.len() > MATCH_RULE_LEN_MAX {
        return Err(Kind::TooLong { len: text.len() }.at(MATCH_RULE_LEN_MAX));
    }
    let mut rule = MatchRule::default();
    let mut cursor = RuleCursor { text, at: 0 };
    while let Some(pair) = cursor.next_pair()? {
        let key = KeyName::parse(pair.key).map_err(|kind| kind.at(pair.key_at))?;
        rule.add(key, &pair)?;
    }
    Ok(rule)
}

/// A key and its unquoted value, with their offsets in the text.
struct RuleKeyValue<'a> {
    key: &'a str,
    key_at: usize,
    value: String,
    value_at: usize,
}

/// The rest of the text.
struct RuleCursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> RuleCursor<'a> {
    fn next_pair(&mut self) -> Result<Option<RuleKeyValue<'a>>, MatchRuleError> {
        self.skip_blanks();
        if self.rest().is_empty() {
            return Ok(None);
        }
        let key_at = self.at;
        let key = self.key()?;
        let value_at = self.at;
        let value = self.value()?;
        Ok(Some(RuleKeyValue { key, key_at, value, value_at }))
    }

    /// Reads the key, the blanks after it and the `=`.
    fn key(&mut self) -> Result<&'a str, MatchRuleError> {
        let key_at = self.at;
        let len = self.rest().find(|c| is_blank(c) || c == '=').unwrap_or(self.rest().len());
        let key = &self.rest()[..len];
        self.at += len;
        self.skip_blanks();
        if !self.rest().starts_with('=') {
            return Err(Kind::MissingEquals.at(self.at));
        }
        if key.is_empty() {
            return Err(Kind::EmptyKey.at(key_at));
        }
        self.at += 1;
        Ok(key)
    }

    /// Reads the value, and the comma after it if there is one.
    fn value(&mut self) -> Result<String, MatchRuleError> {
        let mut value = String::new();
        loop {
            let bare = self.rest().find([',', '\'', '\\']).unwrap_or(self.rest().len());
            value.push_str(self.take(bare));
            match self.take_char() {
                None | Some(',') => return Ok(value),
                Some('\'') => value.push_str(self.quoted()?),
                Some(_) if self.rest().starts_with('\'') => value.push_str(self.take(1)),
                Some(backslash) => value.push(backslash),
            }
        }
    }

    /// Reads the text from an apostrophe, which was read before, to the next.
    fn quoted(&mut self) -> Result<&'a str, MatchRuleError> {
        let quote_at = self.at - 1;
        let len = self.rest().find('\'').ok_or(Kind::UnbalancedQuote.at(quote_at))?;
        let text = self.take(len);
        self.at += 1;
        Ok(text)
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches(is_blank).len();
    }

    fn take(&mut self, len: usize) -> &'a str {
        let taken = &self.rest()[..len];
        self.at += len;
        taken
    }

    fn take_char(&mut self) -> Option<char> {
        let taken = self.rest().chars().next()?;
        self.at += taken.len_utf8();
        Some(taken)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

/// The subject of a key.
enum KeyName {
    Type,
    Sender,
    Interface,
    Member,
    Path,
    PathNamespace,
    Destination,
    Eavesdrop,
    Arg(u8, ArgMatch),
}

impl KeyName {
    fn parse(key: &str) -> Result<Self, Kind> {
        Ok(match key {
            "type" => Self::Type,
            "sender" => Self::Sender,
            "interface" => Self::Interface,
            "member" => Self::Member,
            "path" => Self::Path,
            "path_namespace" => Self::PathNamespace,
            "destination" => Self::Destination,
            "eavesdrop" => Self::Eavesdrop,
            _ => return Self::parse_arg(key.strip_prefix("arg").ok_or(Kind::UnknownKey)?),
        })
    }

    /// Parses the rest of a key after `arg`: the number and the kind of comparison.
    fn parse_arg(rest: &str) -> Result<Self, Kind> {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, suffix) = rest.split_at(digits);
        let index = match number {
            "" => return Err(Kind::MissingArgNumber),
            "0" => 0,
            _ if number.starts_with('0') => return Err(Kind::ArgNumberLeadingZero),
            _ => number.parse().unwrap_or(u8::MAX),
        };
        if index > ARG_INDEX_MAX {
            return Err(Kind::ArgNumberTooLarge);
        }
        match suffix {
            "" => Ok(Self::Arg(index, ArgMatch::Equal)),
            "path" => Ok(Self::Arg(index, ArgMatch::Path)),
            "namespace" if index == 0 => Ok(Self::Arg(index, ArgMatch::Namespace)),
            "namespace" => Err(Kind::NamespaceOfLaterArg),
            _ => Err(Kind::UnknownArgSuffix),
        }
    }
}

impl RuleKeyValue<'_> {
    /// The value, if it is a valid name according to `check`.
    fn checked<'v, T>(
        &'v self,
        check: fn(&'v str) -> Result<T, NameError>,
        error_kind: fn(NameError) -> Kind,
    ) -> Result<Box<str>, MatchRuleError> {
        match check(&self.value) {
            Ok(_) => Ok(self.value.as_str().into()),
            Err(error) => Err(error_kind(error).at(self.value_at)),
        }
    }

    /// The result of `read` for the value, or an error.
    fn known<T>(&self, read: fn(&str) -> Option<T>, error_kind: Kind) -> Result<T, MatchRuleError> {
        read(&self.value).ok_or(error_kind.at(self.value_at))
    }
}

impl MatchRule {
    fn add(&mut self, key: KeyName, pair: &RuleKeyValue<'_>) -> Result<(), MatchRuleError> {
        let added = match key {
            KeyName::Type => {
                set_once(&mut self.message_type, pair.known(message_type, Kind::InvalidType)?)
            }
            KeyName::Sender => {
                set_once(&mut self.sender, pair.checked(BusName::new, Kind::InvalidSender)?)
            }
            KeyName::Interface => set_once(
                &mut self.interface,
                pair.checked(InterfaceName::new, Kind::InvalidInterface)?,
            ),
            KeyName::Member => {
                set_once(&mut self.member, pair.checked(MemberName::new, Kind::InvalidMember)?)
            }
            KeyName::Path => {
                self.set_path(OwnedPath::Exact(pair.checked(ObjectPath::new, Kind::InvalidPath)?))
            }
            KeyName::PathNamespace => self
                .set_path(OwnedPath::Namespace(pair.checked(ObjectPath::new, Kind::InvalidPath)?)),
            KeyName::Destination => set_once(
                &mut self.destination,
                pair.checked(BusName::new, Kind::InvalidDestination)?,
            ),
            KeyName::Eavesdrop => {
                // This is the only key that may be repeated; the last one counts.
                self.reach = pair.known(reach, Kind::InvalidEavesdrop)?;
                Ok(())
            }
            KeyName::Arg(index, ArgMatch::Namespace) => {
                let value = pair.checked(check_namespace, Kind::InvalidNamespace)?;
                self.add_arg(ArgRule { index, how: ArgMatch::Namespace, value })
            }
            KeyName::Arg(index, how) => {
                self.add_arg(ArgRule { index, how, value: pair.value.as_str().into() })
            }
        };
        added.map_err(|kind| kind.at(pair.key_at))
    }

    fn set_path(&mut self, path: OwnedPath) -> Result<(), Kind> {
        match (&self.path, &path) {
            (None, _) => {
                self.path = Some(path);
                Ok(())
            }
            (Some(OwnedPath::Exact(_)), OwnedPath::Exact(_))
            | (Some(OwnedPath::Namespace(_)), OwnedPath::Namespace(_)) => Err(Kind::DuplicateKey),
            (Some(_), _) => Err(Kind::PathWithNamespace),
        }
    }

    fn add_arg(&mut self, arg: ArgRule) -> Result<(), Kind> {
        match self.args.binary_search_by_key(&arg.index, |earlier| earlier.index) {
            Ok(_) => Err(Kind::DuplicateArg(arg.index)),
            Err(place) => {
                // Rules are kept for long, and most have one key about arguments.
                self.args.reserve_exact(1);
                self.args.insert(place, arg);
                Ok(())
            }
        }
    }
}

fn set_once<T>(slot: &mut Option<T>, value: T) -> Result<(), Kind> {
    match slot.replace(value) {
        Some(_) => Err(Kind::DuplicateKey),
        None => Ok(()),
    }
}

fn message_type(word: &str) -> Option<MessageType> {
    use MessageType::{Error, MethodCall, MethodReturn, Signal};
    [MethodCall, MethodReturn, Error, Signal].into_iter().find(|kind| kind.as_str() == word)
}

fn reach(word: &str) -> Option<Reach> {
    match word {
        "true" => Some(Reach::Everything),
        "false" => Some(Reach::Broadcasts),
        _ => None,
    }
}

/// A namespace is a bus name, except that one element is enough.
fn check_namespace(value: &str) -> Result<(), NameError> {
    match BusName::new(value) {
        Err(error) if error.kind != NameErrorKind::SingleElement => Err(error),
        _ => Ok(()),
    }
}

/// The blanks that the reference implementation skips around keys.
const fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}
