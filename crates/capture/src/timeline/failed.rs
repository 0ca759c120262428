//! Services that did not start.

use crate::activation::{Culprit, FailedStart};
use crate::model::Message;
use crate::table::{Cell, Column, Table, Unit};

/// The services that did not start, each with how long its first caller waited, why it failed, and the
/// service that is to blame if that is another one.
pub fn failed_starts_table(starts: &[FailedStart<'_>]) -> Table {
    let caller = |call: &Message<'_>| Some(call.capture().program_label(call.from()?).to_owned());
    Table::of(
        starts,
        &[
            (Column::text("service"), &|start| Cell::text(&start.name)),
            (Column::text("because of"), &|start| {
                Cell::text_or_absent(start.culprit.as_ref().map(Culprit::name))
            }),
            (Column::number("calls", Unit::Count), &|start| Cell::Count(start.calls.len() as u64)),
            (Column::number("waited", Unit::Time), &|start| {
                Cell::time_or_absent(start.calls[0].waited())
            }),
            (Column::text("wanted by").spare(), &|start| {
                Cell::text_or_absent(caller(&start.calls[0]))
            }),
            (Column::number("number", Unit::Count), &|start| {
                Cell::Count(start.calls[0].id().number())
            }),
            (Column::text("why"), &|start| Cell::Text(start.why())),
        ],
    )
}
