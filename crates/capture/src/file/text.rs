//! Reads the default output of `dbus-monitor`: a line for each message, followed by its arguments.

use std::io::{self, Read};

use wire::body::Value;
use wire::message::MessageType;
use wire::names::ObjectPath;

use super::rebuilt::{self, PrintedFields, RebuiltRecord, TextLineReader};
use crate::record::RecordedClock;

/// Determines from the first message whether messages have times, which old versions did not print.
pub(super) fn clock<R: Read>(lines: &mut TextLineReader<R>) -> io::Result<RecordedClock> {
    while let Some(line) = lines.peek()? {
        if let Some(fields) = fields(line) {
            return Ok(if fields.at.is_some() {
                RecordedClock::Wall
            } else {
                RecordedClock::Absent
            });
        }
        lines.pass()?;
    }
    Ok(RecordedClock::Absent)
}

/// Reads the next message of the text.
pub(super) fn next<R: Read>(lines: &mut TextLineReader<R>) -> io::Result<RebuiltRecord> {
    while let Some(line) = lines.take()? {
        // Lines that belong to no message were printed by other programs.
        let Some(fields) = fields(&line) else { continue };
        let args = arguments(lines)?;
        if let Some(rebuilt_record) = lines.rebuild(Some(&fields), &args) {
            return Ok(rebuilt_record);
        }
    }
    Ok(lines.end())
}

/// The arguments, up to the next message; empty if one of them has no basic type.
fn arguments<R: Read>(lines: &mut TextLineReader<R>) -> io::Result<Vec<Value>> {
    let mut body = PrintedArguments::default();
    while let Some(line) = lines.peek()? {
        if !body.is_in_text() && fields(line).is_some() {
            break;
        }
        body.line(line);
        lines.pass()?;
    }
    Ok(body.finish())
}

/// Collects the arguments of a message, line by line.
#[derive(Debug, Default)]
struct PrintedArguments {
    args: Vec<Value>,
    /// A text whose end has not been read yet.
    text: Option<String>,
    /// True if an argument is not of a basic type.
    has_container: bool,
}

impl PrintedArguments {
    const fn is_in_text(&self) -> bool {
        self.text.is_some()
    }

    fn line(&mut self, line: &str) {
        if let Some(text) = &mut self.text {
            text.push('\n');
            text.push_str(line);
        } else if let Some(text) = line.strip_prefix("   string \"") {
            self.text = Some(text.to_owned());
        } else {
            match line.strip_prefix("   ").and_then(simple) {
                Some(value) => self.args.push(value),
                None => self.has_container = true,
            }
        }
        // Quotes in a text are not escaped; one at the end of a line is taken as the end of the
        // text.
        if let Some(text) = self.text.take_if(|text| text.ends_with('"')) {
            self.args.push(Value::String(text[..text.len() - 1].to_owned()));
        }
    }

    fn finish(self) -> Vec<Value> {
        if self.has_container || self.text.is_some() { Vec::new() } else { self.args }
    }
}

/// Parses an argument of a basic type, except texts.
fn simple(line: &str) -> Option<Value> {
    if let Some(path) = line.strip_prefix("object path \"") {
        let path = path.strip_suffix('"')?;
        return ObjectPath::new(path).ok().map(|path| Value::ObjectPath(path.into()));
    }
    let (kind, value) = line.split_once(' ')?;
    Some(match kind {
        "byte" => Value::Byte(value.parse().ok()?),
        "boolean" => Value::Boolean(value.parse().ok()?),
        "int16" => Value::Int16(value.parse().ok()?),
        "uint16" => Value::Uint16(value.parse().ok()?),
        "int32" => Value::Int32(value.parse().ok()?),
        "uint32" => Value::Uint32(value.parse().ok()?),
        "int64" => Value::Int64(value.parse().ok()?),
        "uint64" => Value::Uint64(value.parse().ok()?),
        "double" => Value::Double(value.parse().ok()?),
        _ => return None,
    })
}

/// Returns true if one of the first lines of a file describes a message.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.split(|&byte| byte == b'\n').any(|line| {
        let line = line.get(..LINE_MAX).unwrap_or(line);
        std::str::from_utf8(line).is_ok_and(|line| fields(line).is_some())
    })
}

/// Parses the line of a message; `None` for other lines.
fn fields(line: &str) -> Option<PrintedFields<'_>> {
    let (kind, rest) = KINDS
        .iter()
        .find_map(|&(start, kind)| line.strip_prefix(start).map(|rest| (kind, rest)))?;
    let text = |key: &str| {
        let value = &rest[rest.find(key)? + key.len()..];
        let end = value.find([' ', ';']).unwrap_or(value.len());
        Some(&value[..end]).filter(|value| !value.starts_with('('))
    };
    let number = |key: &str| text(key)?.parse().ok();
    if !rest.starts_with(" sender=") && !rest.starts_with(" time=") {
        return None;
    }
    Some(PrintedFields {
        at: text(" time=").and_then(rebuilt::time),
        serial: number(" serial="),
        reply_serial: number(" reply_serial="),
        sender: text(" sender="),
        destination: text(" destination=").or_else(|| text(" dest=")),
        path: text(" path="),
        interface: text(" interface="),
        member: text(" member="),
        error_name: text(" error_name="),
        ..PrintedFields::new(kind)
    })
}

/// The first words of the lines of messages.
const KINDS: [(&str, MessageType); 4] = [
    ("method call", MessageType::MethodCall),
    ("method return", MessageType::MethodReturn),
    ("error", MessageType::Error),
    ("signal", MessageType::Signal),
];

/// The maximum number of bytes of a line that are examined to recognize a message.
const LINE_MAX: usize = 1 << 10;
