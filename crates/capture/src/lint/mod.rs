//! What is wrong with how programs talk, by rules.
//!
//! Reading order:
//!
//! - [`finding`]: what rules find, and what it costs.
//! - `traffic`: the messages that rules check, and who is who; `context`: what several rules derive from it.
//! - [`rule`]: what a rule is; [`rules`](LintRule::all): the list, and a file for each.
//! - [`report`]: findings ranked, as text and as JSON.
//! - [`baseline`]: findings that are known and left out.
//! - [`document`]: the rules as a document for people.
//!
//! Silence is better than a false alarm: what a recorder does itself is left out, and so is what a
//! recording cannot show.

pub mod baseline;
pub mod document;
pub mod finding;
pub mod report;
pub mod rule;

mod audience;
mod changes;
mod context;
mod deadlocks;
mod observers;
mod patterns;
mod queries;
mod questions;
mod rules;
mod subscribers;
mod traffic;
mod units;

pub use baseline::Baseline;
pub use finding::{Confidence, Cost, Evidence, Finding, FindingParty, FindingSeverity, LintRuleId};
pub use report::{Report, ReportSource};
pub use rule::LintRule;
pub use rules::RuleIdError;

use crate::Capture;
use context::LintContext;

/// Applies rules to a recording. The order is that of all reports: that the recording is incomplete
/// ([`INCOMPLETE`]), then the others by severity, and those of one severity by cost.
pub fn lint<'r>(capture: &Capture, rules: impl IntoIterator<Item = &'r LintRule>) -> Vec<Finding> {
    let context = LintContext::new(capture);
    let mut found: Vec<_> = rules.into_iter().flat_map(|rule| rule.apply(&context)).collect();
    found.sort_by_cached_key(|finding| {
        let first = finding.evidence.first.first().copied();
        let cost = std::cmp::Reverse(finding.cost.as_time());
        (finding.rule != INCOMPLETE, std::cmp::Reverse(finding.severity), cost, finding.rule, first)
    });
    found
}

/// The rule about the recording itself.
pub const INCOMPLETE: LintRuleId = LintRuleId(50);
