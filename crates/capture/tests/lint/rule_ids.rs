//! Numbers of rules.

use capture::lint::{LintRule, LintRuleId, RuleIdError};

#[test]
fn rules_are_in_the_order_of_their_numbers() {
    assert!(LintRule::all().is_sorted_by(|one, next| one.id < next.id));
}

#[test]
fn every_number_is_that_of_one_rule_or_of_a_removed_one() {
    let removed = LintRule::removed().iter().map(|removed| removed.id);
    let mut ids: Vec<_> = LintRule::all().iter().map(|rule| rule.id).chain(removed).collect();
    ids.sort_unstable();
    let expected: Vec<_> = (1..=ids.len() as u8).map(LintRuleId).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_rule_names_a_real_case() {
    for rule in LintRule::all() {
        // A program with its version, or a public report, and what it did.
        let names_a_source = rule.seen.contains(|c: char| c.is_ascii_digit());
        assert!(names_a_source && rule.seen.len() > 60, "{}: {:?}", rule.id, rule.seen);
        assert!(rule.seen.ends_with('.'), "{}: {:?}", rule.id, rule.seen);
    }
}

#[test]
fn numbers_are_read_as_they_are_written() {
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
