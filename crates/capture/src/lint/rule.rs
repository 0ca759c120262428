//! What a rule is.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::context::Context;
use super::finding::{Finding, Severity};
use super::rules;
use super::units;

/// The number of a rule, which never changes: `L07`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleId(pub u8);

/// One thing that can be wrong with how programs talk.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// What decides how bad a finding is.
    pub rating: Rating,
    /// What must be in a recording for it to find anything.
    pub needs: Needs,
    /// What it looks for, and why that is a fault.
    pub meaning: &'static str,
    /// From where on something is reported.
    pub thresholds: &'static [Threshold],
    /// A real case: which program did it, with which member, and how often or how long.
    pub seen: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// Looks for it.
    pub(super) check: fn(&Context<'_>) -> Vec<Finding>,
}

/// A rule that earlier versions had.
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    /// Its number, which no other rule gets.
    pub id: RuleId,
    /// What it found, in a few words.
    pub title: &'static str,
    /// Why it was removed, and which rule reports such cases now, if one does.
    pub why: &'static str,
}

/// What decides how bad a finding of a rule is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rating {
    /// Its cost ([`Cost::severity`](super::Cost::severity)), but it is at least this bad.
    AtLeast(Severity),
    /// The rule itself, whatever it costs.
    Always(Severity),
}

/// What a recording must hold for a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Needs {
    /// Messages, as every recording has them.
    Messages,
    /// Bodies too; one that was cut says nothing.
    Bodies,
    /// The names of processes.
    Processes,
    /// Match rules: those set while it was recorded, or found by the recorder.
    MatchRules,
    /// All match rules of a bus, or what the bus itself wrote about who got what.
    Recipients,
    /// When processes had a processor.
    Switches,
}

/// From where on something is reported.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Threshold {
    /// What is measured.
    pub what: &'static str,
    /// From where on.
    pub from: Amount,
    /// Why there.
    pub source: &'static str,
}

/// An amount of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// How many.
    Count(u64),
    /// How long.
    Span(Duration),
    /// How large.
    Bytes(u64),
    /// Hundredths of a whole.
    Percent(u64),
    /// How many in a second.
    Rate(u64),
}

impl Rule {
    /// All rules, by their numbers.
    pub const fn all() -> &'static [Self] {
        &rules::ALL
    }

    /// The rules that earlier versions had, by their numbers.
    pub const fn removed() -> &'static [Removed] {
        &rules::REMOVED
    }

    /// The rule with this number.
    pub fn find(id: RuleId) -> Option<&'static Self> {
        Self::all().iter().find(|rule| rule.id == id)
    }
}

impl Rating {
    /// Its cost alone.
    pub(super) const BY_COST: Self = Self::AtLeast(Severity::Low);

    /// The severity of a finding without a cost.
    pub const fn floor(self) -> Severity {
        match self {
            Self::AtLeast(severity) | Self::Always(severity) => severity,
        }
    }

    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast(Severity::Info | Severity::Low) => "by cost",
            Self::AtLeast(Severity::Med) => "by cost, at least med",
            Self::AtLeast(Severity::High) => "high",
            Self::Always(severity) => severity.as_str(),
        }
    }
}

impl Needs {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "any recording",
            Self::Bodies => "a recording with the bodies of messages",
            Self::Processes => "a recording that names processes",
            Self::MatchRules => "a recording that shows match rules being set",
            Self::Recipients => "a recording with all match rules, or with the trace of the bus",
            Self::Switches => "a recording that was made with --switches",
        }
    }
}

impl Threshold {
    /// A threshold that is no other's: it was chosen so that ordinary traffic stays below it.
    pub(super) const fn new(what: &'static str, from: Amount) -> Self {
        Self { what, from, source: "our choice" }
    }

    /// The same with where it comes from.
    pub(super) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    pub(super) const fn count(what: &'static str, from: usize) -> Self {
        Self::new(what, Amount::Count(from as u64))
    }

    pub(super) const fn span(what: &'static str, from: Duration) -> Self {
        Self::new(what, Amount::Span(from))
    }

    pub(super) const fn bytes(what: &'static str, from: u32) -> Self {
        Self::new(what, Amount::Bytes(from as u64))
    }

    pub(super) const fn percent(what: &'static str, from: u64) -> Self {
        Self::new(what, Amount::Percent(from))
    }

    pub(super) const fn rate(what: &'static str, from: u64) -> Self {
        Self::new(what, Amount::Rate(from))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Count(count) => f.write_str(&units::grouped(count)),
            Self::Span(span) => f.write_str(&units::span(span)),
            Self::Bytes(bytes) => f.write_str(&units::bytes(bytes)),
            Self::Percent(percent) => write!(f, "{percent} %"),
            Self::Rate(rate) => write!(f, "{rate}/s"),
        }
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{:02}", self.0)
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a text is not the id of a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleIdError {
    /// The text does not have the form of an id.
    #[error("\"{found}\" is not the number of a rule; they are written L01 to L53")]
    NotAnId {
        /// The text.
        found: String,
    },
    /// No rule has this number.
    #[error("there is no rule {0}; docs/lint.md has them all")]
    NoSuchRule(RuleId),
    /// Earlier versions had a rule with this number.
    #[error("the rule {0} was removed; docs/lint.md says why")]
    Removed(RuleId),
}

impl FromStr for RuleId {
    type Err = RuleIdError;

    fn from_str(text: &str) -> Result<Self, RuleIdError> {
        let digits = text.strip_prefix(['L', 'l']);
        let number = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse().ok());
        let id = Self(number.ok_or_else(|| RuleIdError::NotAnId { found: text.to_owned() })?);
        let was_removed = || Rule::removed().iter().any(|removed| removed.id == id);
        match Rule::find(id) {
            Some(_) => Ok(id),
            None if was_removed() => Err(RuleIdError::Removed(id)),
            None => Err(RuleIdError::NoSuchRule(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_in_the_order_of_their_numbers() {
        assert!(Rule::all().is_sorted_by(|one, next| one.id < next.id));
    }

    #[test]
    fn every_number_is_that_of_one_rule_or_of_a_removed_one() {
        let removed = Rule::removed().iter().map(|removed| removed.id);
        let mut ids: Vec<_> = Rule::all().iter().map(|rule| rule.id).chain(removed).collect();
        ids.sort_unstable();
        let expected: Vec<_> = (1..=ids.len() as u8).map(RuleId).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn every_rule_names_a_real_case() {
        for rule in Rule::all() {
            // A program with its version, or a public report, and what it did.
            let names_a_source = rule.seen.contains(|c: char| c.is_ascii_digit());
            assert!(names_a_source && rule.seen.len() > 60, "{}: {:?}", rule.id, rule.seen);
            assert!(rule.seen.ends_with('.'), "{}: {:?}", rule.id, rule.seen);
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for rule in Rule::all() {
            assert_eq!(rule.id.to_string().parse(), Ok(rule.id));
        }
        assert_eq!("l7".parse(), Ok(RuleId(7)));
        for removed in Rule::removed() {
            let parsed = removed.id.to_string().parse::<RuleId>();
            assert_eq!(parsed, Err(RuleIdError::Removed(removed.id)));
        }
        assert_eq!("L99".parse::<RuleId>(), Err(RuleIdError::NoSuchRule(RuleId(99))));
        for text in ["", "L", "7", "L+7", "L999", "polling"] {
            let found = text.to_owned();
            assert_eq!(text.parse::<RuleId>(), Err(RuleIdError::NotAnId { found }));
        }
    }
}
