//! Findings for programs.

use serde::Serialize;

use super::{Report, Source};
use crate::lint::finding::Finding;
use crate::lint::rule::Rule;
use crate::query::OfRecorder;
use crate::record::nanos;

#[derive(Serialize)]
struct Shape<'r> {
    /// `file` or `bus`, and what it is called.
    #[serde(flatten)]
    source: SourceShape<'r>,
    messages: usize,
    recorder_messages: OfRecorder,
    span_ns: u64,
    connections: usize,
    known: usize,
    findings: Vec<FindingShape<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum SourceShape<'r> {
    File(&'r str),
    Bus(&'r str),
}

/// A finding with what its rule says.
#[derive(Serialize)]
struct FindingShape<'r> {
    title: &'static str,
    advice: &'static str,
    #[serde(flatten)]
    finding: &'r Finding,
    cost_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<String>,
}

/// A report as one line of JSON.
pub fn to_json(report: &Report) -> String {
    let shape = Shape {
        source: match &report.source {
            Source::Recording(file) => SourceShape::File(file),
            Source::Bus(name) => SourceShape::Bus(name),
        },
        messages: report.messages,
        recorder_messages: report.of_recorder,
        span_ns: nanos(report.span),
        connections: report.connections,
        known: report.known,
        findings: report.findings.iter().map(|one| finding(one, report)).collect(),
    };
    serde_json::to_string(&shape).expect("texts and numbers can be written") + "\n"
}

fn finding<'r>(finding: &'r Finding, report: &Report) -> FindingShape<'r> {
    let rule = Rule::find(finding.rule);
    FindingShape {
        title: rule.map_or("", |rule| rule.title),
        advice: rule.map_or("", |rule| rule.advice),
        finding,
        cost_ns: nanos(finding.cost.as_time()),
        check: match report.source {
            Source::Recording(_) => finding.check_command("FILE"),
            Source::Bus(_) => None,
        },
    }
}
