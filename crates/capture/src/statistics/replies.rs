//! Calls without a reply, and replies without a call.

use wire::message::MessageType;

use crate::model::{
    CallOutcome, Capture, CapturedMessage, TextId, UnpairedReplyKind, unpaired_replies,
};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Returns the calls to which no callee replied.
fn unanswered(capture: &Capture) -> impl Iterator<Item = (CapturedMessage<'_>, CallOutcome)> {
    let calls = capture.messages().filter(|message| message.kind() == MessageType::MethodCall);
    let outcomes = calls.filter_map(|call| Some((call, call.outcome()?)));
    outcomes.filter(|(_, outcome)| {
        outcome.is_unanswered()
            || matches!(outcome, CallOutcome::TimedOut | CallOutcome::CalleeLeft)
    })
}

/// Creates a table of the calls to which the callee did not reply, with the waits of their callers,
/// and of the replies that were late or belong to no call.
pub fn replies(
    capture: &Capture,
    mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
) -> DataTable {
    let mut table = DataTable::new([
        Column::number("number", ColumnUnit::Count),
        Column::text("what"),
        Column::number("waited", ColumnUnit::Time),
        Column::text("from"),
        Column::text("to"),
        Column::text("member"),
    ]);
    for (call, outcome) in unanswered(capture).filter(|(call, _)| selects(call)) {
        let waited = Cell::time_or_absent(call.waited());
        table.push(row(&call, &call, outcome.as_str(), waited));
    }
    for loose in unpaired_replies(capture) {
        let reply = capture.message(loose.reply);
        if !selects(&reply) {
            continue;
        }
        table.push(match loose.kind {
            UnpairedReplyKind::Late { call } => {
                let call = capture.message(call);
                let waited = reply.at().since(call.at()).map_or(Cell::Absent, Cell::Time);
                row(&reply, &call, "late", waited)
            }
            UnpairedReplyKind::Undelivered { message } => {
                let message = capture.message(message);
                let about = message.call().unwrap_or(message);
                row(&reply, &about, "not delivered", Cell::Absent)
            }
            UnpairedReplyKind::Orphan => row(&reply, &reply, "no call", Cell::Absent),
            UnpairedReplyKind::Unknown => row(&reply, &reply, "unknown call", Cell::Absent),
        });
    }
    table
}

fn row(
    message: &CapturedMessage<'_>,
    call: &CapturedMessage<'_>,
    what: &str,
    waited: Cell,
) -> [Cell; 6] {
    let capture = message.capture();
    let name = |name: TextId| Cell::text(capture.label_of(message.bus(), name, message.at()));
    [
        Cell::Count(message.id().number()),
        Cell::text(what),
        waited,
        name(message.sender_id()),
        name(message.destination_id()),
        Cell::Text(call.full_member()),
    ]
}
