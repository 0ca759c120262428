//! The rules of a configuration, with the places where they stand.

use bus::policy::{PolicyRule as BusRule, PolicyVerdict, RuleSubject, Scope};

use super::error::ElementOrigin;

/// Every rule of a configuration, in the order of the files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyDocument {
    /// The rules.
    pub rules: Vec<DocumentRule>,
}

/// An `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentRule {
    /// Where it stands.
    pub origin: ElementOrigin,
    /// Whose connections it judges.
    pub scope: Scope,
    /// What it says of what it matches.
    pub verdict: PolicyVerdict,
    /// What it matches.
    pub subject: RuleSubject,
    /// Whether what it decides is to be logged (`log`).
    pub log: bool,
}

impl DocumentRule {
    /// What the bus is told of it.
    pub(super) fn without_origin(&self) -> BusRule {
        let Self { scope, verdict, subject, log, .. } = self;
        BusRule { scope: *scope, verdict: *verdict, subject: subject.clone(), log: *log }
    }
}
