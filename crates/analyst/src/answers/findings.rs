//! The findings of the linter.

use capture::Capture;
use capture::lint::report::{Report, ReportContent, ReportSource};
use capture::lint::rule::{LintRule, Threshold};
use capture::lint::{INCOMPLETE, lint};
use serde::Serialize;

/// The findings of the linter, with the rules that were applied.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingsAnswer {
    /// The report, with the same members as the output of `diligence lint --json`.
    #[serde(flatten)]
    pub report: ReportContent,
    /// The rules that were applied.
    pub rules: Vec<RuleEntry>,
}

/// A lint rule, with the texts of `diligence lint --explain`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Rule"))]
pub struct RuleEntry {
    /// The id of the rule, like `L07`.
    pub id: String,
    /// The title of the rule.
    pub title: &'static str,
    /// The way in which the severity is determined, in words, like `by cost`.
    pub severity: &'static str,
    /// The content that the rule needs in a recording, in words.
    pub needs: &'static str,
    /// The explanation of the problem.
    pub meaning: &'static str,
    /// The thresholds of the rule, with their sources.
    pub thresholds: Vec<String>,
    /// The advice of the rule.
    pub advice: &'static str,
}

/// The reasons why the recording is incomplete.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndingAnswer {
    /// One sentence for each reason; empty if the recording is complete.
    pub incomplete: Vec<String>,
}

/// Applies all lint rules.
pub(crate) fn findings(capture: &Capture) -> FindingsAnswer {
    let report = Report::new(ReportSource::Recording(String::new()), capture, LintRule::all());
    let rules = LintRule::all().iter().map(RuleEntry::of).collect();
    FindingsAnswer { report: ReportContent::of(&report), rules }
}

/// Lists the reasons why the recording is incomplete.
pub(crate) fn ending(capture: &Capture) -> EndingAnswer {
    let found = lint(capture, LintRule::find(INCOMPLETE));
    EndingAnswer { incomplete: found.into_iter().map(|finding| finding.says).collect() }
}

impl RuleEntry {
    fn of(rule: &LintRule) -> Self {
        Self {
            id: rule.id.to_string(),
            title: rule.title,
            severity: rule.rating.as_str(),
            needs: rule.needs.as_str(),
            meaning: rule.meaning,
            thresholds: rule.thresholds.iter().map(threshold).collect(),
            advice: rule.advice,
        }
    }
}

fn threshold(one: &Threshold) -> String {
    format!("{}: {} ({})", one.quantity, one.from, one.source)
}

#[cfg(test)]
mod tests {
    use testkit::recording::TestRecording;

    use super::*;

    #[test]
    fn each_finding_has_its_rule() {
        let mut recording = TestRecording::new();
        recording.owner("org.example.Mail", ":1.6");
        for _ in 0..20 {
            let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
            recording.wait_ms(200).reply(&call, ":1.6", &());
        }
        let answer = serde_json::to_value(findings(&recording.capture())).unwrap();
        let of = |list: &str, key: &str| -> Vec<String> {
            let list = answer[list].as_array().unwrap().iter();
            list.map(|one| one[key].as_str().unwrap().to_owned()).collect()
        };
        let rules = of("rules", "id");
        let found = of("findings", "rule");
        assert!(found.contains(&"L19".to_owned()), "{found:?}");
        assert!(found.iter().all(|rule| rules.contains(rule)), "{found:?}");
    }
}
