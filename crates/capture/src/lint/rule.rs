//! Lint rules: their texts, thresholds and requirements.

use std::fmt;
use std::time::Duration;

use super::context::LintContext;
use super::finding::{Finding, FindingSeverity, LintRuleId};
use super::units;

/// A rule that detects one kind of problem in how programs use D-Bus.
#[derive(Clone, Copy, Debug)]
pub struct LintRule {
    /// The id, which never changes.
    pub id: LintRuleId,
    /// The name of the problem, in a few words.
    pub title: &'static str,
    /// The way in which the severity of a finding is determined.
    pub rating: Rating,
    /// The content that a recording must have, so that the rule can find anything.
    pub needs: Needs,
    /// An explanation of the problem.
    pub meaning: &'static str,
    /// The amounts from which the rule reports a finding.
    pub thresholds: &'static [Threshold],
    /// A real case: the program, the member, and the frequency or duration.
    pub example: &'static str,
    /// Advice for the author of the program.
    pub advice: &'static str,
    /// Finds the problem in a recording.
    pub(super) check: fn(&LintContext<'_>) -> Vec<Finding>,
}

/// A rule that earlier versions had.
#[derive(Clone, Copy, Debug)]
pub struct RemovedRule {
    /// The id, which is never used again.
    pub id: LintRuleId,
    /// The name of the problem, in a few words.
    pub title: &'static str,
    /// The reason for the removal, and the rule that reports such cases now, if any.
    pub reason: &'static str,
}

/// The way in which the severity of a finding is determined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rating {
    /// By the cost ([`Cost::severity`](super::Cost::severity)), but at least this severity.
    AtLeast(FindingSeverity),
    /// Always this severity, whatever the cost.
    Always(FindingSeverity),
}

/// The content that a rule needs in a recording.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Needs {
    /// Messages, which every recording has.
    Messages,
    /// Messages with complete bodies.
    Bodies,
    /// The names of processes.
    Processes,
    /// Match rules: those added during the recording, or found by the recorder.
    MatchRules,
    /// All match rules of a bus, or the recipients from the trace of the bus.
    Recipients,
    /// The times at which processes had a processor.
    Switches,
}

/// An amount from which a rule reports a finding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Threshold {
    /// The quantity that is measured.
    pub quantity: &'static str,
    /// The smallest amount that is reported.
    pub from: ThresholdAmount,
    /// The reason for this amount.
    pub source: &'static str,
}

/// The amount of a [`Threshold`], with its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThresholdAmount {
    /// A number of occurrences.
    Count(u64),
    /// A length of time.
    Span(Duration),
    /// A size in bytes.
    Bytes(u64),
    /// A percentage of a whole.
    Percent(u64),
    /// A number per second.
    Rate(u64),
}

impl LintRule {
    /// Applies the rule to a recording, and sets the rule and severity of its findings.
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
    /// The severity follows from the cost alone.
    pub(super) const BY_COST: Self = Self::AtLeast(FindingSeverity::Low);

    /// The severity of a finding without a cost.
    pub const fn floor(self) -> FindingSeverity {
        match self {
            Self::AtLeast(severity) | Self::Always(severity) => severity,
        }
    }

    /// The text in the document of the rules.
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
    /// The text in the document of the rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "any recording",
            Self::Bodies => "a recording with message bodies",
            Self::Processes => "a recording that names processes",
            Self::MatchRules => "a recording that shows how match rules are added",
            Self::Recipients => "a recording with all match rules, or with the trace of the bus",
            Self::Switches => "a recording that was made with --switches",
        }
    }
}

impl Threshold {
    /// A threshold chosen for this project, so that ordinary traffic stays below it.
    pub(super) const fn new(quantity: &'static str, from: ThresholdAmount) -> Self {
        Self { quantity, from, source: "our choice" }
    }

    /// Replaces the reason for the amount.
    pub(super) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    pub(super) const fn count(quantity: &'static str, from: usize) -> Self {
        Self::new(quantity, ThresholdAmount::Count(from as u64))
    }

    pub(super) const fn span(quantity: &'static str, from: Duration) -> Self {
        Self::new(quantity, ThresholdAmount::Span(from))
    }

    pub(super) const fn bytes(quantity: &'static str, from: u32) -> Self {
        Self::new(quantity, ThresholdAmount::Bytes(from as u64))
    }

    pub(super) const fn percent(quantity: &'static str, from: u64) -> Self {
        Self::new(quantity, ThresholdAmount::Percent(from))
    }

    pub(super) const fn rate(quantity: &'static str, from: u64) -> Self {
        Self::new(quantity, ThresholdAmount::Rate(from))
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
