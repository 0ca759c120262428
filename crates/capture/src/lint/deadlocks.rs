//! Detection of two programs that wait for each other.

use std::time::Duration;

use super::traffic::{CheckedTraffic, TrafficParty};
use crate::collected::collected;
use crate::model::CapturedMessage;
use crate::record::RecordedTime;

/// Returns pairs of calls in opposite directions that were pending together for [`TOGETHER`] or
/// longer.
pub(super) fn find<'c>(
    lint: &CheckedTraffic<'c>,
) -> Vec<(CapturedMessage<'c>, CapturedMessage<'c>)> {
    let long = lint.calls.iter().filter(|call| is_long(lint, call));
    let pairs = collected(long.map(|call| (ends(lint, call), *call)));
    let found = pairs.iter().flat_map(|(_, calls)| crossing(calls));
    found.collect()
}

/// The time when the wait for a call ends: the caller gets the reply or disconnects, or the
/// recording ends.
fn end(call: &CapturedMessage<'_>) -> RecordedTime {
    call.at().after(call.waited().unwrap_or_default())
}

fn is_long(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> bool {
    call.expects_reply()
        && !call.is_driver_traffic()
        && (call.partner().is_some() || lint.is_unanswered(call))
        && call.waited() >= Some(TOGETHER)
}

/// The two parties of a call in a fixed order, independent of its direction.
fn ends(lint: &CheckedTraffic<'_>, call: &CapturedMessage<'_>) -> (TrafficParty, TrafficParty) {
    let (one, other) = (lint.sender(call), lint.callee(call));
    (one.min(other), one.max(other))
}

/// Pairs each call with the next call in the opposite direction that was sent while it was pending.
fn crossing<'c>(calls: &[CapturedMessage<'c>]) -> Vec<(CapturedMessage<'c>, CapturedMessage<'c>)> {
    let mut found = Vec::new();
    let mut latest: Option<CapturedMessage<'c>> = None;
    for call in calls {
        if let Some(before) = latest.filter(|before| before.sender_id() != call.sender_id()) {
            let over = end(&before).min(end(call));
            if over.since(call.at()).is_some_and(|span| span >= TOGETHER) {
                found.push((before, *call));
            }
        }
        if latest.is_none_or(|before| end(&before) <= end(call)) {
            latest = Some(*call);
        }
    }
    found
}

/// The shortest overlap of two calls that counts as a deadlock.
pub(super) const TOGETHER: Duration = Duration::from_secs(1);
