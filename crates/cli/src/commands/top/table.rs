//! The table of the last seconds.

use std::time::Duration;

use capture::query::Query;
use capture::record::RecordedTime;
use capture::statistics::{GroupKeyKind, GroupedTraffic};
use capture::table::DataTable;

use crate::live::LiveTraffic;

/// What those messages of the last `span` before `now` have in common that a query selects.
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
    // A call without a reply may still get one, so it is waiting.
    groups.table().without(&LEFT_OUT).with_needed("p50").with_needed("waiting")
}

/// Messages among which calls and names are found; of a busier bus the table has a shorter span.
pub(super) const MESSAGES_KEPT: usize = 200_000;

/// Columns that say what others do, or more than there is room for.
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
