//! What is wrong with how the programs talk.

use capture::Capture;
use capture::lint::report::{Report, Source, to_json};
use capture::lint::rule::{Rule, Threshold};
use capture::lint::{INCOMPLETE, lint};
use serde_json::{Value, json};

/// The linter's report, as `diligence lint --json` has it, and the rules that were applied.
pub(crate) fn findings(capture: &Capture) -> Value {
    let report = Report::new(Source::Recording(String::new()), capture, Rule::all());
    let mut told: Value = serde_json::from_str(&to_json(&report)).expect("a report is JSON");
    told["rules"] = Rule::all().iter().map(rule).collect();
    told
}

/// Why the recording is incomplete, in sentences; none if it is not.
pub(crate) fn ending(capture: &Capture) -> Value {
    let found = lint(capture, Rule::find(INCOMPLETE));
    let says: Vec<_> = found.iter().map(|finding| finding.says.as_str()).collect();
    json!({ "incomplete": says })
}

/// A rule, as `diligence lint --explain` has it.
fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id.to_string(),
        "title": rule.title,
        "severity": rule.rating.as_str(),
        "needs": rule.needs.as_str(),
        "meaning": rule.meaning,
        "thresholds": rule.thresholds.iter().map(threshold).collect::<Vec<_>>(),
        "advice": rule.advice,
    })
}

fn threshold(one: &Threshold) -> String {
    format!("{}: {} ({})", one.what, one.from, one.source)
}

#[cfg(test)]
mod tests {
    use diligence_testkit::recording::Recording;

    use super::*;

    #[test]
    fn each_finding_has_its_rule() {
        let mut recording = Recording::new();
        recording.owner("org.example.Mail", ":1.6");
        for _ in 0..20 {
            let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
            recording.wait_ms(200).reply(&call, ":1.6", &());
        }
        let told = findings(&recording.capture());
        let of = |list: &str, key: &str| -> Vec<String> {
            let list = told[list].as_array().unwrap().iter();
            list.map(|one| one[key].as_str().unwrap().to_owned()).collect()
        };
        let rules = of("rules", "id");
        let found = of("findings", "rule");
        assert!(found.contains(&"L19".to_owned()), "{found:?}");
        assert!(found.iter().all(|rule| rules.contains(rule)), "{found:?}");
    }
}
