//! Tables, with what the page needs for their layout.

use capture::table::{Cell, ColumnUnit, DataTable};
use serde::Serialize;

/// A table. Times are in nanoseconds, shares from 0 to 1.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableData {
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// What limits the meaning of the numbers, in sentences.
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableColumn {
    /// Its title.
    pub name: &'static str,
    /// Its name in the JSON that commands print.
    pub key: String,
    /// What its numbers mean.
    pub unit: ColumnUnit,
}

impl TableData {
    pub(super) fn of(table: &DataTable) -> Self {
        let columns = table.columns().iter().map(|column| TableColumn {
            name: column.name,
            key: column.key().into(),
            unit: column.unit,
        });
        Self {
            columns: columns.collect(),
            rows: table.rows().to_vec(),
            notes: table.notes().to_vec(),
        }
    }
}
