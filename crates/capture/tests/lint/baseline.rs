//! Baselines of known findings.

use capture::lint::baseline::{Baseline, BaselineError, BaselineErrorKind};
use capture::lint::{Finding, LintRule, lint};
use capture::lint::{LintRuleId, RuleIdError};

use crate::calls::CASES;

fn findings() -> Vec<Finding> {
    let polling = CASES.iter().find(|case| case.rule == 12).expect("a case for each rule");
    lint(&polling.recording(polling.raises).capture(), LintRule::all())
}

#[test]
fn findings_written_to_a_baseline_are_known() {
    let findings = findings();
    let text = Baseline::of(&findings);
    assert!(text.ends_with("\nL12 client org.example.Mail org.example.Mail1.GetCount\n"), "{text}");
    let baseline = Baseline::parse(&text).expect("our own text");
    let mut filter = baseline.filter();
    assert!(!findings.iter().any(|finding| filter.is_new(finding)));
    assert_eq!(filter.unused().count(), 0);
}

#[test]
fn baseline_lines_match_rule_program_and_subject() {
    let finding = &findings()[0];
    for (line, is_known) in [
        ("L12 client org.example.Mail org.example.Mail1.GetCount", true),
        ("l12   client  org.example.Mail   org.example.Mail1.GetCount", true),
        ("L12 * *", true),
        ("L12 client *", true),
        ("L11 * *", false),
        ("L46 client *", false),
        ("L12 other *", false),
        ("L12 client org.example.Mail", false),
        ("# L12 * *", false),
    ] {
        let baseline = Baseline::parse(line).expect(line);
        let mut filter = baseline.filter();
        assert_eq!(!filter.is_new(finding), is_known, "{line}");
        let unused = usize::from(!is_known && !line.starts_with('#'));
        assert_eq!(filter.unused().count(), unused, "{line}");
    }
}

#[test]
fn malformed_baseline_lines_are_reported_with_their_numbers() {
    let no_rule = RuleIdError::NotAnId { found: "polling".into() };
    for (text, line, kind) in [
        ("# known\n\npolling * *", 3, BaselineErrorKind::Rule(no_rule)),
        ("L99 * *", 1, BaselineErrorKind::Rule(RuleIdError::NoSuchRule(LintRuleId(99)))),
        ("L12 * *\nL12", 2, BaselineErrorKind::PartyMissing),
        ("L12 client", 1, BaselineErrorKind::SubjectMissing),
    ] {
        assert_eq!(Baseline::parse(text), Err(BaselineError { line, kind }), "{text}");
    }
}
