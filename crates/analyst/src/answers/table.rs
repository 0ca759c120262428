//! Tables, with the data that the page needs for their layout.

use capture::table::{Cell, ColumnUnit, DataTable};
use serde::Serialize;

/// A table. Times are in nanoseconds; shares range from 0 to 1.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableData {
    /// The columns of the table.
    pub columns: Vec<TableColumn>,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Sentences about facts that limit the meaning of the numbers.
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableColumn {
    /// The title of the column.
    pub name: &'static str,
    /// The key of the column in the JSON that commands print.
    pub key: String,
    /// The unit of its numbers.
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
