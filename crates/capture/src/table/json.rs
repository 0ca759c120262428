//! Tables for programs: a JSON array with an object for each row, whose keys are in the order of
//! the columns.

use crate::record::nanos;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{Cell, Column, DataTable};

impl Serialize for DataTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.rows.iter().map(|row| JsonTableRow { columns: &self.columns, row }))
    }
}

struct JsonTableRow<'t> {
    columns: &'t [Column],
    row: &'t [Cell],
}

impl Serialize for JsonTableRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.row) {
            map.serialize_entry(&column.key(), cell)?;
        }
        map.end()
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Count(number) | Self::Bytes(number) => serializer.serialize_u64(*number),
            Self::Time(time) => serializer.serialize_u64(nanos(*time)),
            Self::Share(number) | Self::Rate(number) | Self::Mean(number) => {
                serializer.serialize_f64(*number)
            }
            Self::Alarm(cell) => cell.serialize(serializer),
        }
    }
}

/// The JSON types of a cell.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Cell {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cell".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A cell of a table; null if the value is unknown or absent.",
            "type": ["string", "number", "null"],
        })
    }
}
