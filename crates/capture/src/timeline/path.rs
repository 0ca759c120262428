//! What somebody waited for, walked back from the end.

use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId};
use crate::record::RecordedTime;

/// A part of a critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CriticalPathStep {
    /// From when.
    pub from: RecordedTime,
    /// Until when.
    pub to: RecordedTime,
    /// How deep it lies: 0 for what the service itself does, 1 for what one does for which it waits.
    pub depth: u8,
    /// Who works: itself, or in a call that is answered.
    pub what: Activity,
}

/// What goes on in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// A connection is not waiting for any call.
    Works(RecordedPeerId),
    /// A connection waits for the answer to this call.
    Waits(CapturedMessageId),
}

/// The answered calls of each connection, by when they were answered.
#[derive(Debug)]
pub(super) struct Answered<'c> {
    capture: &'c Capture,
    by_caller: Vec<Vec<(RecordedTime, CapturedMessageId)>>,
}

impl<'c> Answered<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        let mut by_caller = vec![Vec::new(); capture.directory().peers().count()];
        for reply in capture.messages().filter(|message| message.kind().is_reply()) {
            let Some(call) = reply.partner() else { continue };
            if let Some(caller) = call.from() {
                by_caller[caller.index()].push((reply.written_at(), call.id()));
            }
        }
        // The clock may have been set back.
        by_caller.iter_mut().for_each(|calls| calls.sort_by_key(|(at, _)| *at));
        Self { capture, by_caller }
    }

    /// What a connection did between two points in time, and what it waited for, in the order of
    /// time: of calls that overlap, that counts whose answer came last.
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

    /// What the callee did meanwhile, if that was to wait for others.
    fn walk_callee(
        &self,
        call: &CapturedMessage<'_>,
        answered: RecordedTime,
        depth: u8,
        steps: &mut Vec<CriticalPathStep>,
    ) {
        // The bus replies to StartServiceByName when the service has come.
        let callee = call.waited_for_start().map(|start| start.service).or_else(|| call.to());
        let Some(callee) = callee.filter(|callee| Some(*callee) != call.from()) else { return };
        if depth < DEPTH_MAX && !self.waits(callee, call.at(), answered).is_empty() {
            self.walk(callee, call.at(), answered, depth, steps);
        }
    }

    /// The calls that a connection waited for in a span of time, the last first.
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

/// Calls within calls that are looked into.
const DEPTH_MAX: u8 = 8;

/// Steps of one path.
const STEPS_MAX: usize = 10_000;
