//! Findings for those who read them.

mod json;
mod text;

use std::time::Duration;

pub use json::to_json;
pub use text::{Extent, SHOWN, to_text};

use super::finding::{Finding, Severity};
use super::rule::Rule;
use super::{baseline, lint};
use crate::Capture;

/// What was found in one recording.
#[derive(Clone, Debug)]
pub struct Report {
    /// What to call the recording.
    pub file: String,
    /// How many messages it has.
    pub messages: usize,
    /// From its first to its last message.
    pub span: Duration,
    /// How many connections it shows.
    pub connections: usize,
    /// What was found, what matters most first.
    pub findings: Vec<Finding>,
    /// How many findings were left out because a baseline knows them.
    pub known: usize,
}

impl Report {
    /// Applies rules to a recording that people call `file`.
    pub fn new<'r>(
        file: String,
        capture: &Capture,
        rules: impl IntoIterator<Item = &'r Rule>,
    ) -> Self {
        let times = || capture.messages().map(|message| message.at());
        let (first, last) = (times().min(), times().max());
        Self {
            file,
            messages: capture.len(),
            span: last.zip(first).and_then(|(last, first)| last.since(first)).unwrap_or_default(),
            connections: capture.directory().peers().count(),
            findings: lint(capture, rules),
            known: 0,
        }
    }

    /// Leaves out what is known.
    pub fn leave_out(&mut self, filter: &mut baseline::Filter<'_>) {
        let before = self.findings.len();
        self.findings.retain(|finding| filter.is_new(finding));
        self.known += before - self.findings.len();
    }

    /// The worst that was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
