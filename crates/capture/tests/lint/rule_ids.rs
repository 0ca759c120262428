//! The ids and examples of rules.

use capture::lint::{LintRule, LintRuleId, RuleIdError};

#[test]
fn rules_are_sorted_by_id() {
    assert!(LintRule::all().is_sorted_by(|one, next| one.id < next.id));
}

#[test]
fn every_id_belongs_to_one_current_or_removed_rule() {
    let removed = LintRule::removed().iter().map(|removed| removed.id);
    let mut ids: Vec<_> = LintRule::all().iter().map(|rule| rule.id).chain(removed).collect();
    ids.sort_unstable();
    let expected: Vec<_> = (1..=ids.len() as u8).map(LintRuleId).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_rule_has_a_real_example() {
    for rule in LintRule::all() {
        // An example names a program with its version, or a public report, and describes the case.
        let names_a_source = rule.example.contains(|c: char| c.is_ascii_digit());
        assert!(names_a_source && rule.example.len() > 60, "{}: {:?}", rule.id, rule.example);
        assert!(rule.example.ends_with('.'), "{}: {:?}", rule.id, rule.example);
    }
}

#[test]
fn rule_ids_are_parsed_as_they_are_displayed() {
    for rule in LintRule::all() {
        assert_eq!(rule.id.to_string().parse(), Ok(rule.id));
    }
    assert_eq!("l7".parse(), Ok(LintRuleId(7)));
    for removed in LintRule::removed() {
        let parsed = removed.id.to_string().parse::<LintRuleId>();
        assert_eq!(parsed, Err(RuleIdError::Removed(removed.id)));
    }
    assert_eq!("L99".parse::<LintRuleId>(), Err(RuleIdError::NoSuchRule(LintRuleId(99))));
    for text in ["", "L", "7", "L+7", "L999", "polling"] {
        let found = text.to_owned();
        assert_eq!(text.parse::<LintRuleId>(), Err(RuleIdError::NotAnId { found }));
    }
}
