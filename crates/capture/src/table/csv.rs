//! Tables for spreadsheets: comma-separated values as in RFC 4180, with a header line of keys.

use std::borrow::Cow;

use super::{Cell, Column, DataTable};

impl DataTable {
    /// Returns the table as comma-separated values, in the units that the keys state.
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        csv_line(&mut text, self.columns.iter().map(Column::key));
        for row in &self.rows {
            csv_line(&mut text, row.iter().map(field));
        }
        text
    }
}

/// Appends a line of fields. Fields are quoted if necessary.
pub fn csv_line(text: &mut String, fields: impl IntoIterator<Item = impl AsRef<str>>) {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_field(text, field.as_ref());
    }
    text.push('\n');
}

fn field(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Absent => "".into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Count(number) | Cell::Bytes(number) => number.to_string().into(),
        Cell::Time(time) => time.as_nanos().to_string().into(),
        Cell::Share(number) | Cell::Rate(number) | Cell::Mean(number) => number.to_string().into(),
        Cell::Alarm(cell) => field(cell),
    }
}

fn push_field(text: &mut String, field: &str) {
    if !field.contains([',', '"', '\n', '\r']) {
        return text.push_str(field);
    }
    text.push('"');
    text.push_str(&field.replace('"', "\"\""));
    text.push('"');
}
