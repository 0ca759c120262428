//! The table that `dbus-monitor --profile` prints: a line for each message, without its body.

use std::io::{self, Read};

use wire::message::MessageType;

use super::rebuilt::{self, PrintedFields, RebuiltRecord, TextLineReader};

/// Reads the next message of a profile.
pub(super) fn next<R: Read>(lines: &mut TextLineReader<R>) -> io::Result<RebuiltRecord> {
    while let Some(line) = lines.take()? {
        if line.starts_with('#') {
            continue;
        }
        if let Some(rebuilt_record) = lines.rebuild(fields(&line).as_ref(), &[]) {
            return Ok(rebuilt_record);
        }
    }
    Ok(lines.end())
}

/// Returns true if a file begins like the output of `dbus-monitor --profile`.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    [&b"#type\t"[..], b"mc\t", b"mr\t", b"err\t", b"sig\t"]
        .iter()
        .any(|start| bytes.starts_with(start))
}

fn fields(line: &str) -> Option<PrintedFields<'_>> {
    let mut columns = line.split('\t');
    let kind = match columns.next()? {
        "mc" => MessageType::MethodCall,
        "mr" => MessageType::MethodReturn,
        "err" => MessageType::Error,
        "sig" => MessageType::Signal,
        _ => return None,
    };
    let mut fields = PrintedFields::new(kind);
    fields.at = Some(rebuilt::time(columns.next()?)?);
    fields.serial = Some(columns.next()?.parse().ok()?);
    let mut text = || columns.next().filter(|&text| text != NONE);
    (fields.sender, fields.destination) = (text(), text());
    if kind.is_reply() {
        fields.reply_serial = Some(text()?.parse().ok()?);
    } else {
        (fields.path, fields.interface, fields.member) = (text(), text(), text());
    }
    Some(fields)
}

/// The placeholder for an absent text.
const NONE: &str = "<none>";
