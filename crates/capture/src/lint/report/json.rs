//! Findings for programs.

use serde::Serialize;

use super::Report;
use crate::lint::finding::Finding;
use crate::lint::rule::Rule;

#[derive(Serialize)]
struct Shape<'r> {
    file: &'r str,
    messages: usize,
    span_ns: u64,
    connections: usize,
    known: usize,
    findings: Vec<FindingShape<'r>>,
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
        file: &report.file,
        messages: report.messages,
        span_ns: u64::try_from(report.span.as_nanos()).unwrap_or(u64::MAX),
        connections: report.connections,
        known: report.known,
        findings: report.findings.iter().map(finding).collect(),
    };
    serde_json::to_string(&shape).expect("texts and numbers can be written") + "\n"
}

fn finding(finding: &Finding) -> FindingShape<'_> {
    let rule = Rule::find(finding.rule);
    FindingShape {
        title: rule.map_or("", |rule| rule.title),
        advice: rule.map_or("", |rule| rule.advice),
        finding,
        cost_ns: u64::try_from(finding.cost.as_time().as_nanos()).unwrap_or(u64::MAX),
        check: finding.check_command("FILE"),
    }
}
