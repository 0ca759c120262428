//! Each lint rule has at least one case: a recording that raises exactly this rule, and a similar
//! recording that raises none.

mod baseline;
mod calls;
mod copies;
mod errors;
mod objects;
mod report;
mod rule_ids;
mod rules_of_matching;
mod scene;
mod services;
mod signals;
mod unread;

use std::collections::BTreeSet;

use capture::Capture;
use capture::lint::{LintRule, LintRuleId, lint};

use scene::{LintCase, quiet};

#[test]
fn each_rule_reports_its_problem_and_ignores_similar_traffic() {
    let wrong: Vec<_> = cases().filter_map(|case| check(case).err()).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let tried: BTreeSet<_> = cases().map(|case| LintRuleId(case.rule)).collect();
    let rules: BTreeSet<_> = LintRule::all().iter().map(|rule| rule.id).collect();
    assert_eq!(tried, rules);
}

#[test]
fn programs_that_behave_raise_nothing() {
    assert_eq!(found(&quiet().capture()), BTreeSet::new());
}

#[test]
fn a_recording_without_messages_raises_nothing() {
    assert_eq!(found(&Capture::default()), BTreeSet::new());
}

pub(crate) fn cases() -> impl Iterator<Item = &'static LintCase> {
    let all = [
        rules_of_matching::CASES,
        calls::CASES,
        errors::CASES,
        objects::CASES,
        services::CASES,
        signals::CASES,
    ];
    all.into_iter().flatten()
}

fn check(case: &LintCase) -> Result<(), String> {
    let raised = found(&case.recording(case.raises).capture());
    let near = found(&case.recording(case.misses).capture());
    let wanted = BTreeSet::from([LintRuleId(case.rule).to_string()]);
    match (raised == wanted, near.is_empty()) {
        (true, true) => Ok(()),
        _ => Err(format!("{wanted:?} {}: raised {raised:?}, near it {near:?}", case.name)),
    }
}

pub(crate) fn found(capture: &Capture) -> BTreeSet<String> {
    lint(capture, LintRule::all()).iter().map(|finding| finding.rule.to_string()).collect()
}
