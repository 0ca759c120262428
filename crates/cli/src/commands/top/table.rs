//! The table of the latest traffic.

use std::time::Duration;

use capture::query::Query;
use capture::record::RecordedTime;
use capture::statistics::{GroupKeyKind, GroupedTraffic};
use capture::table::DataTable;

use crate::live::LiveTraffic;

/// Groups the messages of the last `span` before `now` that a query selects.
pub(super) fn recent(
    traffic: &LiveTraffic,
    (now, span): (RecordedTime, Duration),
    by: GroupKeyKind,
    query: &Query,
) -> DataTable {
    let mut groups = GroupedTraffic::new(traffic.capture(), by);
    let mut matcher = query.matcher();
    for message in traffic.recent(now, span) {
        if matcher.selects(&message) {
            groups.add(&message);
        }
    }
    // A call without a reply counts as waiting, because its reply can still arrive.
    groups.table().without(&LEFT_OUT).with_needed("p50").with_needed("waiting")
}

/// The minimum number of kept messages, in which calls and names are found. On a very busy bus the
/// table covers a shorter span.
pub(super) const MESSAGES_KEPT: usize = 200_000;

/// Columns that repeat other columns, or for which there is no room.
const LEFT_OUT: [&str; 13] = [
    "share",
    "max",
    "total",
    "mean",
    "failed total",
    "failed max",
    "calls",
    "signals",
    "time-outs",
    "callee left",
    "unanswered",
    "caller left",
    "unknown",
];
