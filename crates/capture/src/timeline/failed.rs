//! The table of services that failed to start.

use crate::activation::{FailedDependency, FailedStart};
use crate::model::CapturedMessage;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Formats the services that failed to start, each with the wait of its first caller, the reason,
/// and the other service that caused the failure, if any.
pub fn failed_starts_table(starts: &[FailedStart<'_>]) -> DataTable {
    let caller =
        |call: &CapturedMessage<'_>| Some(call.capture().program_label(call.from()?).to_owned());
    DataTable::of(
        starts,
        &[
            (Column::text("service"), &|start| Cell::text(&start.name)),
            (Column::text("because of"), &|start| {
                Cell::text_or_absent(start.dependency.as_ref().map(FailedDependency::name))
            }),
            (Column::number("calls", ColumnUnit::Count), &|start| {
                Cell::Count(start.calls.len() as u64)
            }),
            (Column::number("waited", ColumnUnit::Time), &|start| {
                Cell::time_or_absent(start.calls[0].waited())
            }),
            (Column::text("wanted by").spare(), &|start| {
                Cell::text_or_absent(caller(&start.calls[0]))
            }),
            (Column::number("number", ColumnUnit::Count), &|start| {
                Cell::Count(start.calls[0].id().number())
            }),
            (Column::text("why"), &|start| Cell::Text(start.why())),
        ],
    )
}
