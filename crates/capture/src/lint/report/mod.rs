//! Findings for those who read them.

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
use crate::query::{OfRecorder, Query};
use crate::record::TimeSpan;

/// What was found in one recording, or on a bus that is watched.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where it was found.
    pub source: ReportSource,
    /// How many messages it has, without those of the recorder.
    pub messages: usize,
    /// Messages of the recorder.
    pub of_recorder: OfRecorder,
    /// From its first to its last message.
    pub span: Duration,
    /// How many connections it shows.
    pub connections: usize,
    /// What was found, what matters most first.
    pub findings: Vec<Finding>,
    /// How many findings were left out because a baseline knows them.
    pub known: usize,
}

/// Where something was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReportSource {
    /// In a recording, by what people call it. Numbers of messages, and commands that look for them
    /// again, mean something.
    Recording(String),
    /// On a bus, by its name. Of what went over it there is nothing to be looked at again.
    Bus(String),
}

impl ReportSource {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Recording(name) | Self::Bus(name) => name,
        }
    }
}

impl Report {
    /// Applies rules to what was found in `source`.
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

    /// The command that shows whether a change has helped, if there is one.
    fn check_command(&self, finding: &Finding) -> Option<String> {
        match &self.source {
            ReportSource::Recording(file) => finding.check_command(file),
            ReportSource::Bus(_) => None,
        }
    }

    /// Leaves out what is known.
    pub fn leave_out(&mut self, filter: &mut baseline::Filter<'_>) {
        let before = self.findings.len();
        self.findings.retain(|finding| filter.is_new(finding));
        self.known += before - self.findings.len();
    }

    /// The worst that was found.
    pub fn worst(&self) -> Option<FindingSeverity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
