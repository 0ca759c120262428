//! The policy rules of a configuration, with their positions.

use bus::policy::{PolicyRule as BusRule, PolicyVerdict, RuleSubject, Scope};

use super::error::ElementOrigin;

/// Every policy rule of a configuration, in the order of the files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyDocument {
    /// All rules, in the order of the files.
    pub rules: Vec<DocumentRule>,
}

/// An `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentRule {
    /// The position of the element.
    pub origin: ElementOrigin,
    /// The connections that the rule applies to.
    pub scope: Scope,
    /// Whether a match is allowed or denied.
    pub verdict: PolicyVerdict,
    /// The subject of the rule: messages, names or connections.
    pub subject: RuleSubject,
    /// Whether decisions of this rule are logged (`log`).
    pub log: bool,
}

impl DocumentRule {
    /// The rule for the bus core, without its position.
    pub(super) fn without_origin(&self) -> BusRule {
        let Self { scope, verdict, subject, log, .. } = self;
        BusRule { scope: *scope, verdict: *verdict, subject: subject.clone(), log: *log }
    }
}
