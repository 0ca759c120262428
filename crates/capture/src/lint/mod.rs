//! Lint rules that detect problems in how programs use D-Bus.
//!
//! Reading order:
//!
//! - [`finding`]: findings and their costs.
//! - `traffic`: the messages that rules check, and their parties; `context`: facts that several
//!   rules share.
//! - [`rule`]: the definition of a rule; [`rules`](LintRule::all): the list, with a file for each
//!   rule.
//! - [`report`]: ranked findings, as text and as JSON.
//! - [`baseline`]: known findings, which are left out.
//! - [`document`]: the generated page about the rules.
//!
//! Rules avoid false alarms: they ignore the traffic of recorders, and conclude nothing from data
//! that a recording lacks.

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

use std::thread;

use crate::Capture;
use crate::workers::OrderedWorkers;
use context::LintContext;

/// Applies rules to a recording, with all processors. Findings that the recording is incomplete ([`INCOMPLETE`]) come
/// first; the others are sorted by severity, then by cost.
pub fn lint<'r>(capture: &Capture, rules: impl IntoIterator<Item = &'r LintRule>) -> Vec<Finding> {
    let context = &LintContext::new(capture);
    let mut found: Vec<_> = thread::scope(|scope| {
        let apply = || move |rule: &LintRule| rule.apply(context).collect::<Vec<_>>();
        // The results are small, so a slow rule need not stop the others.
        OrderedWorkers::start(scope, apply).unlimited().process(rules).flatten().collect()
    });
    found.sort_by_cached_key(|finding| {
        let first = finding.evidence.first.first().copied();
        let cost = std::cmp::Reverse(finding.cost.as_time());
        (finding.rule != INCOMPLETE, std::cmp::Reverse(finding.severity), cost, finding.rule, first)
    });
    found
}

/// The rule that reports an incomplete recording.
pub const INCOMPLETE: LintRuleId = LintRuleId(50);
