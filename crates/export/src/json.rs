//! Messages as JSON, with their arguments.

use std::io::{self, Write};

use capture::Capture;
use capture::model::CapturedMessage;
use capture::show::{Controls, MessageFormat};

/// Writes the selected messages, one JSON object per line.
///
/// # Errors
///
/// If the recording cannot be read, or if writing to `out` fails.
pub fn write_json<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    mut out: impl Write,
) -> io::Result<()> {
    let (mut text, mut buffer) = (String::new(), Vec::new());
    for message in capture.messages().filter(|message| selects(message)) {
        text.clear();
        MessageFormat::Json.push(&mut text, &message, &mut buffer, Controls::Raw)?;
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}
