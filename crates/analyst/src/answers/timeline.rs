//! Where time went.

use capture::Capture;
use capture::activation::failed_starts;
use capture::model::MessageId;
use capture::record::Time;
use capture::timeline::start_ups;
use capture::timeline::{
    Activity, StartUp, Step, blocked, blocked_table, failed_starts_table, shares, slowest,
    slowest_table,
};
use serde_json::{Value, json};

use super::table::table;
use crate::selection::{Selected, start};

/// Who waited for whom, the slowest calls, what part of calls the bus was, and how services came up.
pub(crate) fn timeline(capture: &Capture, selected: &Selected) -> Value {
    let mut selector = selected.selector();
    let waits = blocked(capture, |call| selector.selects(call));
    let calls = slowest(capture, |call| selector.selects(call), SLOWEST_MAX);
    let parts = shares(capture, |call| selector.selects(call));
    json!({
        "blocked": table(&blocked_table(&waits)),
        "slowest": table(&slowest_table(&calls)),
        "shares": parts.as_ref().map(table),
        "failed_starts": table(&failed_starts_table(&failed_starts(capture, |_| true))),
        "start_ups": start_ups(capture).iter().map(|one| start_up(capture, one)).collect::<Vec<_>>(),
    })
}

/// A start-up. Times are nanoseconds since the first message.
fn start_up(capture: &Capture, one: &StartUp) -> Value {
    let since = |at: Time| at.0 - start(capture).0;
    let milestones = one.milestones.iter().map(|milestone| {
        json!({
            "at": since(milestone.at),
            "what": milestone.kind.as_str(),
            "message": milestone.message.map(MessageId::index),
        })
    });
    let step = |step: &Step| {
        let (what, place) = match step.what {
            Activity::Works(peer) => ("works", peer.index()),
            Activity::Waits(call) => ("waits", call.index()),
        };
        json!({"from": since(step.from), "to": since(step.to), "depth": step.depth, "what": what, "id": place})
    };
    json!({
        "peer": one.peer.index(),
        "name": capture.strings().get(one.name),
        "milestones": milestones.collect::<Vec<_>>(),
        "path": one.path.iter().map(step).collect::<Vec<_>>(),
    })
}

/// Calls that are told of as the slowest.
const SLOWEST_MAX: usize = 200;
