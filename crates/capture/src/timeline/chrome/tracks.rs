//! The processes of a trace and their lanes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::spans::{ConnectionSpan, TraceSpanRole};
use crate::model::{Capture, RecordedPeerId};
use crate::timeline::lanes::Lanes;

/// A lane of a process, identified by the numbers that the format has for processes and threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Track {
    pub(super) process: u32,
    pub(super) thread: u32,
}

#[derive(Debug)]
pub(super) struct Tracks<'c> {
    capture: &'c Capture,
    lanes: HashMap<(RecordedPeerId, TraceSpanRole), Lanes, RandomState>,
    threads: HashMap<(RecordedPeerId, TraceSpanRole, u32), u32, RandomState>,
}

impl<'c> Tracks<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        Self { capture, lanes: HashMap::default(), threads: HashMap::default() }
    }

    /// Returns the track for a span, and true if it is used for the first time.
    pub(super) fn place(&mut self, span: &ConnectionSpan) -> (Track, bool) {
        let group = match span.role {
            // The bus handles messages one by one, so these spans share a lane.
            TraceSpanRole::Receives | TraceSpanRole::Dispatches => TraceSpanRole::Routes,
            role => role,
        };
        let lane = match span.role {
            TraceSpanRole::Emits => 0,
            TraceSpanRole::Writes if span.is_point() => 0,
            _ => self.lanes.entry((span.peer, group)).or_default().place(span.from, span.to),
        };
        let next = self.threads.len() as u32 + 1;
        let thread = *self.threads.entry((span.peer, group, lane)).or_insert(next);
        (Track { process: self.process(span.peer), thread }, thread == next)
    }

    /// The process id of a connection, or an unused number if it is unknown.
    pub(super) fn process(&self, peer: RecordedPeerId) -> u32 {
        let process = self.capture.directory().peer(peer).process.as_ref();
        process
            .and_then(|process| process.pid)
            .unwrap_or_else(|| PROCESSES_MAX + 1 + peer.index() as u32)
    }

    pub(super) fn process_label(&self, peer: RecordedPeerId) -> String {
        match self.capture.directory().peer(peer).process {
            Some(_) => self.capture.program_label(peer).to_owned(),
            None => self.capture.label(peer).into_owned(),
        }
    }

    /// The label of a lane: the activity of the connection, and its unique name.
    pub(super) fn lane_label(&self, span: &ConnectionSpan) -> String {
        let unique = self.capture.strings().get(self.capture.directory().peer(span.peer).unique);
        let what = match span.role {
            TraceSpanRole::Starts => "start",
            TraceSpanRole::Runs => return "on a processor".to_owned(),
            TraceSpanRole::Calls => "calls",
            TraceSpanRole::Serves => "serves",
            TraceSpanRole::Routes | TraceSpanRole::Receives | TraceSpanRole::Dispatches => "routes",
            TraceSpanRole::Sends => "sends",
            TraceSpanRole::Writes => "writes",
            TraceSpanRole::Emits => "emits",
            TraceSpanRole::NeverAnswered => "never answered",
        };
        format!("{what} {unique}")
    }
}

/// Linux never uses larger process ids.
const PROCESSES_MAX: u32 = 1 << 22;
