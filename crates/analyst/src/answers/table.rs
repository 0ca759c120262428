//! Tables, with what the page needs to lay them out.

use capture::table::{Table, Unit};
use serde_json::{Value, json};

/// A table: its columns with their units, and rows of numbers and texts in the order of the columns.
/// Times are in nanoseconds, shares from 0 to 1. The notes are what to know before its numbers are believed.
pub(super) fn table(table: &Table) -> Value {
    let columns = table
        .columns()
        .iter()
        .map(|column| json!({"name": column.name, "key": column.key(), "unit": unit(column.unit)}));
    json!({"columns": columns.collect::<Vec<_>>(), "rows": table.rows(), "notes": table.notes()})
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Text => "text",
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Time => "time",
        Unit::Share => "share",
        Unit::Rate => "rate",
        Unit::Mean => "mean",
    }
}
