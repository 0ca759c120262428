//! Messages as JSON, with their arguments.

use std::io::{self, Write};

use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};
use capture::show::{Controls, MessageFormat};

use crate::parts::{for_each_part, selected_parts};

/// Writes the selected messages, one JSON object per line.
///
/// # Errors
///
/// If the recording cannot be read, or if writing to `out` fails.
pub fn write_json<'c>(
    capture: &'c Capture,
    selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    mut out: impl Write,
) -> io::Result<()> {
    let lines = |messages: Vec<CapturedMessage<'c>>, buffer: &mut MessageBuffer| {
        let mut text = String::new();
        for message in &messages {
            MessageFormat::Json.push(&mut text, message, buffer, Controls::Raw)?;
        }
        Ok(text)
    };
    let parts = selected_parts(capture, selects);
    for_each_part(parts, lines, |text| out.write_all(text.as_bytes()))?;
    out.flush()
}
