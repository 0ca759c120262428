//! The rules of a configuration, with the places where they stand.

use bus::policy::{Rule as BusRule, RuleSubject, Scope, Verdict};

use super::error::Origin;

/// Every rule of a configuration, in the order of the files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyDocument {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// An `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Where it stands.
    pub origin: Origin,
    /// Whose connections it judges.
    pub scope: Scope,
    /// What it says of what it matches.
    pub verdict: Verdict,
    /// What it matches.
    pub subject: RuleSubject,
    /// Whether what it decides is to be logged (`log`).
    pub log: bool,
}

impl Rule {
    /// What the bus is told of it.
    pub(super) fn without_origin(&self) -> BusRule {
        let Self { scope, verdict, subject, log, .. } = self;
        BusRule { scope: *scope, verdict: *verdict, subject: subject.clone(), log: *log }
    }
}
