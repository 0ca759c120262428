//! Two programs that wait for each other.

use std::time::Duration;

use super::context::{Context, Party};
use crate::collected::collected;
use crate::model::Message;
use crate::record::Time;

/// Pairs of calls, one each way, that were pending together for [`TOGETHER`] or longer.
pub(super) fn find<'c>(lint: &Context<'c>) -> Vec<(Message<'c>, Message<'c>)> {
    let long = lint.calls.iter().filter(|call| is_long(lint, call));
    let pairs = collected(long.map(|call| (ends(lint, call), *call)));
    let found = pairs.iter().flat_map(|(_, calls)| crossing(lint, calls));
    found.collect()
}

/// When a call is over: answered, or the recording ends.
fn end(lint: &Context<'_>, call: &Message<'_>) -> Time {
    call.partner().map_or(lint.span(call.bus()).last, |reply| reply.at())
}

fn is_long(lint: &Context<'_>, call: &Message<'_>) -> bool {
    call.expects_reply()
        && !call.is_driver_traffic()
        && end(lint, call).since(call.at()).is_some_and(|span| span >= TOGETHER)
}

/// Both ends of a call, whoever calls.
fn ends(lint: &Context<'_>, call: &Message<'_>) -> (Party, Party) {
    let (one, other) = (lint.sender(call), lint.callee(call));
    (one.min(other), one.max(other))
}

/// Of all calls between two, each with the next one the other way that came while it was pending.
fn crossing<'c>(lint: &Context<'c>, calls: &[Message<'c>]) -> Vec<(Message<'c>, Message<'c>)> {
    let mut found = Vec::new();
    let mut latest: Option<Message<'c>> = None;
    for call in calls {
        if let Some(before) = latest.filter(|before| before.sender_id() != call.sender_id()) {
            let over = end(lint, &before).min(end(lint, call));
            if over.since(call.at()).is_some_and(|span| span >= TOGETHER) {
                found.push((before, *call));
            }
        }
        if latest.is_none_or(|before| end(lint, &before) <= end(lint, call)) {
            latest = Some(*call);
        }
    }
    found
}

/// So long two calls must wait for each other.
pub(super) const TOGETHER: Duration = Duration::from_secs(1);
