//! Critical paths: the work and the waits that determined when something was done.

use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId};
use crate::record::RecordedTime;

/// A step of a critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CriticalPathStep {
    /// The start of the step.
    pub from: RecordedTime,
    /// The end of the step.
    pub to: RecordedTime,
    /// The nesting depth: 0 for activities of the service itself, 1 for activities of a callee that
    /// it waits for.
    pub depth: u8,
    /// The activity in this step.
    pub what: Activity,
}

/// The activity in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// A connection is not waiting for any call.
    Works(RecordedPeerId),
    /// A connection is waiting for the reply to this call.
    Waits(CapturedMessageId),
}

/// The calls with replies of each connection, sorted by the time of the reply.
#[derive(Debug)]
pub(super) struct AnsweredCalls<'c> {
    capture: &'c Capture,
    by_caller: Vec<Vec<(RecordedTime, CapturedMessageId)>>,
}

impl<'c> AnsweredCalls<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        let mut by_caller = vec![Vec::new(); capture.directory().peers().count()];
        for reply in capture.messages().filter(|message| message.kind().is_reply()) {
            let Some(call) = reply.partner() else { continue };
            if let Some(caller) = call.from() {
                by_caller[caller.index()].push((reply.written_at(), call.id()));
            }
        }
        // The clock may have jumped back.
        by_caller.iter_mut().for_each(|calls| calls.sort_by_key(|(at, _)| *at));
        Self { capture, by_caller }
    }

    /// The activities of a connection between two points in time, in chronological order. Of
    /// overlapping calls, the path contains the one with the latest reply.
    pub(super) fn path(
        &self,
        peer: RecordedPeerId,
        from: RecordedTime,
        to: RecordedTime,
    ) -> Vec<CriticalPathStep> {
        let mut steps = Vec::new();
        self.walk(peer, from, to, 0, &mut steps);
        steps
    }

    fn walk(
        &self,
        peer: RecordedPeerId,
        from: RecordedTime,
        to: RecordedTime,
        depth: u8,
        steps: &mut Vec<CriticalPathStep>,
    ) {
        let mut now = from;
        let works = Activity::Works(peer);
        for (answered, call) in self.waits(peer, from, to).into_iter().rev() {
            let call = self.capture.message(call);
            steps.extend(step(now, call.at(), depth, works));
            steps.extend(step(call.at(), answered, depth, Activity::Waits(call.id())));
            self.walk_callee(&call, answered, depth + 1, steps);
            now = answered;
            if steps.len() > STEPS_MAX {
                break;
            }
        }
        steps.extend(step(now, to, depth, works));
    }

    /// Adds the activities of the callee, if it waited for other calls.
    fn walk_callee(
        &self,
        call: &CapturedMessage<'_>,
        answered: RecordedTime,
        depth: u8,
        steps: &mut Vec<CriticalPathStep>,
    ) {
        // The bus replies to StartServiceByName when the service owns its name.
        let callee = call.waited_for_start().map(|start| start.service).or_else(|| call.to());
        let Some(callee) = callee.filter(|callee| Some(*callee) != call.from()) else { return };
        if depth < DEPTH_MAX && !self.waits(callee, call.at(), answered).is_empty() {
            self.walk(callee, call.at(), answered, depth, steps);
        }
    }

    /// The calls that a connection waited for in a time span, the last first.
    fn waits(
        &self,
        peer: RecordedPeerId,
        from: RecordedTime,
        to: RecordedTime,
    ) -> Vec<(RecordedTime, CapturedMessageId)> {
        let calls = &self.by_caller[peer.index()];
        let end = calls.partition_point(|(answered, _)| *answered <= to);
        let inside = calls[..end].iter().rev().take_while(|(answered, _)| *answered >= from);
        let mut open_until = to;
        let mut waits = Vec::new();
        for &(answered, call) in inside {
            let called = self.capture.message(call).at();
            if called >= from && answered <= open_until && called <= answered {
                waits.push((answered, call));
                open_until = called;
            }
        }
        waits
    }
}

fn step(
    from: RecordedTime,
    to: RecordedTime,
    depth: u8,
    what: Activity,
) -> Option<CriticalPathStep> {
    (from < to).then_some(CriticalPathStep { from, to, depth, what })
}

/// The maximum depth of nested calls.
const DEPTH_MAX: u8 = 8;

/// The maximum number of steps in a path.
const STEPS_MAX: usize = 10_000;
