//! The flat table as comma-separated values: RFC 4180, with a header line of column names.

use std::borrow::Cow;
use std::io::{self, Write};

use capture::Capture;
use capture::model::CapturedMessage;
use capture::table::csv_line;

use crate::flat::{COLUMNS, FlatRow, FlatValue};

/// Writes the selected messages, one line for each.
///
/// # Errors
///
/// If the recording cannot be read, or if writing to `out` fails.
pub fn write_csv<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    mut out: impl Write,
) -> io::Result<()> {
    let (mut line, mut buffer) = (String::new(), Vec::new());
    csv_line(&mut line, COLUMNS.iter().map(|column| column.name));
    out.write_all(line.as_bytes())?;
    for message in capture.messages().filter(|message| selects(message)) {
        let row = FlatRow::new(message);
        line.clear();
        let fields = COLUMNS.iter().map(|column| field(column.value, &row, &mut buffer));
        csv_line(&mut line, fields.collect::<io::Result<Vec<_>>>()?);
        out.write_all(line.as_bytes())?;
    }
    out.flush()
}

/// The text of a field; empty if the value is absent.
fn field<'c>(
    value: FlatValue,
    row: &FlatRow<'c>,
    buffer: &mut Vec<u8>,
) -> io::Result<Cow<'c, str>> {
    Ok(match value {
        FlatValue::Text(get) => get(row).unwrap_or_default().into(),
        FlatValue::Integer(get) => {
            get(row).map(|number| number.to_string()).unwrap_or_default().into()
        }
        FlatValue::Time(get) => get(row).to_string().into(),
        FlatValue::Truth(get) => get(row).to_string().into(),
        FlatValue::Body => row.body(buffer)?.unwrap_or_default().into(),
    })
}
