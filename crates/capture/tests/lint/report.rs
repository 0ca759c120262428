//! Reports as text and as JSON.

use std::path::Path;

use capture::lint::document::document;
use capture::lint::report::{Extent, to_json, to_text};
use capture::lint::{
    FindingSeverity, INCOMPLETE, LintRule, LintRuleId, Report, ReportSource, lint,
};
use capture::query::Query;
use capture::record::{BusId, GapCause, RecordingGap};
use capture::text::Style;
use testkit::golden;
use testkit::recording::TestRecording;

use crate::scene::*;
use crate::{calls, cases, errors, services};

/// A bus with several problems, and a gap in the recording.
fn faulty_bus() -> TestRecording {
    let mut recording = scene();
    let of = |cases: &'static [LintCase], rule| cases.iter().find(move |case| case.rule == rule);
    for case in [of(calls::CASES, 12), of(services::CASES, 19), of(errors::CASES, 17)] {
        (case.expect("a case for each rule").raises)(&mut recording);
    }
    recording.gap(RecordingGap {
        at: None,
        bus: BusId(0),
        cause: GapCause::Overrun,
        lost: Some(1200),
    });
    recording
}

fn report(recording: &TestRecording) -> Report {
    report_of(ReportSource::Recording("desk.pcap".into()), recording)
}

fn report_of(source: ReportSource, recording: &TestRecording) -> Report {
    Report::new(source, &recording.capture(), LintRule::all())
}

fn golden_file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[test]
fn text_reports_match_the_golden_file() {
    let text = to_text(&report(&faulty_bus()), Extent::First, Style::plain(100));
    golden::check(golden_file("lint-report.txt"), &text);
}

#[test]
fn reports_about_a_live_bus_have_no_message_numbers_and_no_commands() {
    let report = report_of(ReportSource::Bus("the session bus".into()), &faulty_bus());
    let text = to_text(&report, Extent::First, Style::plain(100));
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.starts_with("the session bus: "), "{text}");
    assert!(text.contains("seen in 10 messages; confidence"), "{text}");
    assert!(!text.contains(" check diligence"), "{text}");
    assert!(text.ends_with("diligence record makes a file that has both."), "{text}");
    let json = to_json(&report);
    assert!(json.starts_with("{\"bus\":\"the session bus\","), "{json}");
    assert!(!json.contains("\"check\""), "{json}");
}

#[test]
fn findings_are_sorted_by_severity_and_cost_after_the_incomplete_recording() {
    let report = report(&faulty_bus());
    assert_eq!(report.findings[0].rule, INCOMPLETE);
    let order = report.findings[1..].iter().map(|it| (it.severity, it.cost.as_time()));
    let order: Vec<_> = order.collect();
    assert!(order.is_sorted_by(|one, next| one >= next), "{order:?}");
    assert!(order.iter().any(|(severity, _)| *severity < order[0].0), "{order:?}");
    assert_eq!(report.worst(), Some(FindingSeverity::High));
}

#[test]
fn reports_show_the_first_ten_findings_in_detail() {
    let mut recording = scene();
    // The cases about an incomplete recording replace the whole recording.
    for case in cases().filter(|case| LintRuleId(case.rule) != INCOMPLETE) {
        (case.raises)(recording.at_ms(i64::from(case.rule) * 100_000));
    }
    let report = report(&recording);
    let first = to_text(&report, Extent::First, Style::plain(100));
    let all = to_text(&report, Extent::All, Style::plain(100));
    assert!(first.contains("\nMore findings, shown with --all:\n") && !all.contains("--all"));
    let details = |text: &str| text.lines().filter(|line| line.starts_with("     seen in")).count();
    assert!(details(&first) <= 10 && details(&all) > 30, "{first}");
    let long = all.lines().filter(|line| !line.starts_with("     check"));
    let long: Vec<_> = long.filter(|line| line.chars().count() > 100).collect();
    assert_eq!(long, Vec::<&str>::new());
}

#[test]
fn json_reports_contain_all_findings() {
    let report = report(&faulty_bus());
    let json: serde_json::Value = serde_json::from_str(&to_json(&report)).expect("JSON");
    assert_eq!(json["file"], "desk.pcap");
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(report.findings.len()));
    let polling =
        json["findings"].as_array().and_then(|all| all.iter().find(|it| it["rule"] == "L12"));
    let polling = polling.expect("it polls");
    assert_eq!(polling["severity"], "low");
    assert_eq!(polling["who"]["stable"], "client");
    assert_eq!(polling["cost"]["calls"], 10);
    assert_eq!(polling["evidence"]["first"].as_array().map(Vec::len), Some(3));
    let check = "diligence stats FILE 'from:client to:org.example.Mail member:GetCount'";
    assert_eq!(polling["check"], check);
}

#[test]
fn control_characters_in_recorded_names_are_not_printed() {
    let mut recording = scene();
    recording.process(":1.7", 107, "\u{1b}[31mred");
    for turn in 0..10 {
        ask_by(&mut recording, ":1.7", "GetCount", 300, turn);
        recording.wait_ms(1000);
    }
    let text = to_text(&report(&recording), Extent::All, Style::plain(100));
    assert!(text.contains("red") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn lint_page_is_generated_from_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    golden::check(root.join("docs/lint.md"), &document());
}

#[test]
fn nouns_in_findings_agree_with_their_numbers() {
    let mut wrong = Vec::new();
    for case in cases() {
        for finding in lint(&case.recording(case.raises).capture(), LintRule::all()) {
            let says = format!("{}; {}", finding.says, finding.cost);
            let words: Vec<_> = says.split_whitespace().collect();
            let is_wrong = words.windows(2).any(|two| {
                let noun = two[1].trim_end_matches([',', ';', '.', ':']);
                two[0] == "1" && noun.len() > 2 && noun.ends_with('s')
            });
            wrong.extend(is_wrong.then_some(says));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn queries_of_findings_select_their_evidence() {
    let mut wrong = Vec::new();
    for case in cases() {
        let capture = case.recording(case.raises).capture();
        let all: Vec<_> = capture.messages().collect();
        for finding in lint(&capture, LintRule::all()).iter().filter(|it| !it.query.is_empty()) {
            let query: Query = finding.query.parse().expect(&finding.query);
            let mut matcher = query.matcher();
            let mut shown = finding.evidence.first.iter().map(|&it| all[it as usize - 1]);
            if !finding.evidence.first.is_empty() && !shown.any(|message| matcher.selects(&message))
            {
                wrong.push(format!("{}: {}", case.name, finding.query));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
