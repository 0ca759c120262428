//! Reports: ranked findings, as text and as JSON.

mod json;
mod text;

use std::time::Duration;

pub use json::{FindingContent, ReportContent, to_json};
pub use text::{Extent, SHOWN, to_text};

use super::finding::{Finding, FindingSeverity};
use super::rule::LintRule;
use super::{baseline, lint};
use crate::Capture;
use crate::model::PeerRole;
use crate::query::{Query, RecorderMessageCount};
use crate::record::TimeSpan;

/// The findings in one recording or on a live bus.
#[derive(Clone, Debug)]
pub struct Report {
    /// The recording or bus that was checked.
    pub source: ReportSource,
    /// The number of messages, without messages from or to the recorder.
    pub messages: usize,
    /// The number of messages from or to the recorder.
    pub of_recorder: RecorderMessageCount,
    /// The time from the first message to the last.
    pub span: Duration,
    /// The number of connections, except connections of the recorder.
    pub connections: usize,
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
    /// The number of findings that were left out because a baseline lists them.
    pub known: usize,
}

/// The recording or bus that a report is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReportSource {
    /// A recording, with its display name. The report has message numbers and commands that query
    /// the file.
    Recording(String),
    /// A live bus, with its name. The report has no message numbers and no commands, because
    /// nothing was recorded.
    Bus(String),
}

impl ReportSource {
    /// The name of the recording or the bus.
    pub fn name(&self) -> &str {
        match self {
            Self::Recording(name) | Self::Bus(name) => name,
        }
    }
}

impl Report {
    /// Applies rules to the messages of `source`.
    pub fn new<'r>(
        source: ReportSource,
        capture: &Capture,
        rules: impl IntoIterator<Item = &'r LintRule>,
    ) -> Self {
        let everything = Query::default();
        let leaves_out = everything.leaves_out();
        let shown = capture.messages().filter(|message| !leaves_out(message));
        let (mut messages, mut span) = (0, TimeSpan::default());
        for message in shown {
            messages += 1;
            span.add(message.at());
        }
        let connections = capture.directory().peers();
        let connections = connections.filter(|(_, peer)| peer.role != PeerRole::Recorder);
        Self {
            source,
            messages,
            of_recorder: everything.of_recorder(capture),
            span: span.length(),
            connections: connections.count(),
            findings: lint(capture, rules),
            known: 0,
        }
    }

    /// Returns the command that shows whether a change has helped, if there is one.
    fn check_command(&self, finding: &Finding) -> Option<String> {
        match &self.source {
            ReportSource::Recording(file) => finding.check_command(file),
            ReportSource::Bus(_) => None,
        }
    }

    /// Removes the findings that a baseline lists, and counts them.
    pub fn leave_out(&mut self, filter: &mut baseline::Filter<'_>) {
        let before = self.findings.len();
        self.findings.retain(|finding| filter.is_new(finding));
        self.known += before - self.findings.len();
    }

    /// The highest severity among the findings.
    pub fn worst(&self) -> Option<FindingSeverity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
