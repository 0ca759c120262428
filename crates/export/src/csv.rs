//! The flat table as comma-separated values: RFC 4180, with a header line of column names.

use std::borrow::Cow;
use std::io::{self, Write};

use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};
use capture::table::csv_line;

use crate::flat::{COLUMNS, FlatRow, FlatValue};
use crate::parts::{for_each_part, selected_parts};

/// Writes the selected messages, one line for each.
///
/// # Errors
///
/// If the recording cannot be read, or if writing to `out` fails.
pub fn write_csv<'c>(
    capture: &'c Capture,
    selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    mut out: impl Write,
) -> io::Result<()> {
    let mut header = String::new();
    csv_line(&mut header, COLUMNS.iter().map(|column| column.name));
    out.write_all(header.as_bytes())?;
    let lines = |messages: Vec<CapturedMessage<'c>>, buffer: &mut MessageBuffer| {
        let mut text = String::new();
        for message in messages {
            let row = FlatRow::new(message);
            let fields = COLUMNS.iter().map(|column| field(column.value, &row, buffer));
            csv_line(&mut text, fields.collect::<io::Result<Vec<_>>>()?);
        }
        Ok(text)
    };
    let parts = selected_parts(capture, selects);
    for_each_part(parts, lines, |text| out.write_all(text.as_bytes()))?;
    out.flush()
}

/// The text of a field; empty if the value is absent.
fn field<'c>(
    value: FlatValue,
    row: &FlatRow<'c>,
    buffer: &mut MessageBuffer,
) -> io::Result<Cow<'c, str>> {
    Ok(match value {
        FlatValue::Text(get) => get(row).unwrap_or_default().into(),
        FlatValue::Integer(get) => {
            get(row).map(|number| number.to_string()).unwrap_or_default().into()
        }
        FlatValue::Time(get) => get(row).to_string().into(),
        FlatValue::Boolean(get) => get(row).to_string().into(),
        FlatValue::Body => row.body(buffer)?.unwrap_or_default().into(),
    })
}
