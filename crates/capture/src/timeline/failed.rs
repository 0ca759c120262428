//! Services that did not start.

use crate::activation::{Culprit, FailedStart};
use crate::table::{Cell, Column, Table, Unit};

/// The services that did not start, each with how long its first caller waited, why it failed, and the
/// service that is to blame if that is another one.
pub fn failed_starts_table(starts: &[FailedStart<'_>]) -> Table {
    let mut table = Table::new([
        Column::text("service"),
        Column::text("because of"),
        Column::number("calls", Unit::Count),
        Column::number("waited", Unit::Time),
        Column::text("wanted by").spare(),
        Column::number("number", Unit::Count),
        Column::text("why"),
    ]);
    for start in starts {
        let call = &start.calls[0];
        table.push([
            Cell::text(&start.name),
            Cell::text_or_absent(start.culprit.as_ref().map(Culprit::name)),
            Cell::Count(start.calls.len() as u64),
            call.waited().map_or(Cell::Absent, Cell::Time),
            Cell::text_or_absent(call.from().map(|peer| call.capture().program_label(peer))),
            Cell::Count(call.id().number()),
            Cell::Text(start.why()),
        ]);
    }
    table
}
