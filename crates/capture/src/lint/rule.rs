//! What a rule is.

use std::fmt;
use std::time::Duration;

use super::context::LintContext;
use super::finding::{Finding, FindingSeverity, LintRuleId};
use super::units;

/// One thing that can be wrong with how programs talk.
#[derive(Clone, Copy, Debug)]
pub struct LintRule {
    /// Its number.
    pub id: LintRuleId,
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
    pub(super) check: fn(&LintContext<'_>) -> Vec<Finding>,
}

/// A rule that earlier versions had.
#[derive(Clone, Copy, Debug)]
pub struct RemovedRule {
    /// Its number, which no other rule gets.
    pub id: LintRuleId,
    /// What it found, in a few words.
    pub title: &'static str,
    /// Why it was removed, and which rule reports such cases now, if one does.
    pub why: &'static str,
}

/// What decides how bad a finding of a rule is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rating {
    /// Its cost ([`Cost::severity`](super::Cost::severity)), but it is at least this bad.
    AtLeast(FindingSeverity),
    /// The rule itself, whatever it costs.
    Always(FindingSeverity),
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
    pub from: ThresholdAmount,
    /// Why there.
    pub source: &'static str,
}

/// An amount of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThresholdAmount {
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

impl LintRule {
    /// Applies it to a recording.
    pub(super) fn apply(&self, lint: &LintContext<'_>) -> impl Iterator<Item = Finding> {
        let recorded = lint.longest();
        (self.check)(lint).into_iter().map(move |finding| {
            let by_cost = match self.rating {
                Rating::AtLeast(_) => finding.cost.severity(recorded),
                Rating::Always(severity) => severity,
            };
            let severity = finding.severity.max(self.rating.floor()).max(by_cost);
            Finding { rule: self.id, severity, ..finding }
        })
    }
}

impl Rating {
    /// Its cost alone.
    pub(super) const BY_COST: Self = Self::AtLeast(FindingSeverity::Low);

    /// The severity of a finding without a cost.
    pub const fn floor(self) -> FindingSeverity {
        match self {
            Self::AtLeast(severity) | Self::Always(severity) => severity,
        }
    }

    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast(FindingSeverity::Info | FindingSeverity::Low) => "by cost",
            Self::AtLeast(FindingSeverity::Med) => "by cost, at least med",
            Self::AtLeast(FindingSeverity::High) => "high",
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
    pub(super) const fn new(what: &'static str, from: ThresholdAmount) -> Self {
        Self { what, from, source: "our choice" }
    }

    /// The same with where it comes from.
    pub(super) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    pub(super) const fn count(what: &'static str, from: usize) -> Self {
        Self::new(what, ThresholdAmount::Count(from as u64))
    }

    pub(super) const fn span(what: &'static str, from: Duration) -> Self {
        Self::new(what, ThresholdAmount::Span(from))
    }

    pub(super) const fn bytes(what: &'static str, from: u32) -> Self {
        Self::new(what, ThresholdAmount::Bytes(from as u64))
    }

    pub(super) const fn percent(what: &'static str, from: u64) -> Self {
        Self::new(what, ThresholdAmount::Percent(from))
    }

    pub(super) const fn rate(what: &'static str, from: u64) -> Self {
        Self::new(what, ThresholdAmount::Rate(from))
    }
}

impl fmt::Display for ThresholdAmount {
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
