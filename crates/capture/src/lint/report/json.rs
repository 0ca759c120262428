//! The format of reports in JSON.

use serde::Serialize;

use super::{Report, ReportSource};
use crate::lint::finding::Finding;
use crate::lint::rule::LintRule;
use crate::query::RecorderMessageCount;
use crate::record::nanos;

#[derive(Serialize)]
struct SourcedReport<'r> {
    /// The key `file` or `bus`, with its name.
    #[serde(flatten)]
    source: SourceName<'r>,
    #[serde(flatten)]
    content: ReportContent,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum SourceName<'r> {
    File(&'r str),
    Bus(&'r str),
}

/// The content of a report, without the name of its recording or bus.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportContent {
    /// The number of messages that were checked.
    pub messages: usize,
    /// The number of messages from or to the recorder, which were not checked.
    pub recorder_messages: RecorderMessageCount,
    /// The nanoseconds from the first message to the last.
    pub span_ns: u64,
    /// The number of connections, except connections of the recorder.
    pub connections: usize,
    /// The number of findings that a baseline lists.
    pub known: usize,
    /// The findings, the most important first.
    pub findings: Vec<FindingContent>,
}

/// A finding, with the texts of its rule.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Finding"))]
pub struct FindingContent {
    /// The title of the rule.
    pub title: &'static str,
    /// The advice of the rule.
    pub advice: &'static str,
    /// The finding of the rule.
    #[serde(flatten)]
    pub finding: Finding,
    /// The total cost as a time, in nanoseconds.
    pub cost_ns: u64,
    /// The command that shows whether a change has helped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// Formats a report as a single line of JSON.
pub fn to_json(report: &Report) -> String {
    let source = match &report.source {
        ReportSource::Recording(file) => SourceName::File(file),
        ReportSource::Bus(name) => SourceName::Bus(name),
    };
    let report = SourcedReport { source, content: ReportContent::of(report) };
    serde_json::to_string(&report).expect("texts and numbers can be written") + "\n"
}

impl ReportContent {
    /// Collects the content of a report.
    pub fn of(report: &Report) -> Self {
        Self {
            messages: report.messages,
            recorder_messages: report.of_recorder,
            span_ns: nanos(report.span),
            connections: report.connections,
            known: report.known,
            findings: report.findings.iter().map(|one| FindingContent::of(one, report)).collect(),
        }
    }
}

impl FindingContent {
    fn of(finding: &Finding, report: &Report) -> Self {
        let rule = LintRule::find(finding.rule);
        Self {
            title: rule.map_or("", |rule| rule.title),
            advice: rule.map_or("", |rule| rule.advice),
            finding: finding.clone(),
            cost_ns: nanos(finding.cost.as_time()),
            check: match report.source {
                ReportSource::Recording(_) => finding.check_command("FILE"),
                ReportSource::Bus(_) => None,
            },
        }
    }
}
