//! Values as `dbus-monitor` and `dbus-send --print-reply` print them.
//!
//! With `--print-reply=literal`, texts are printed without type, quotes and line break.

use std::fmt::{self, Display, Write as _};

use wire::body::Value;

use crate::number;

/// The style in which texts are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextStyle {
    /// In quotes, one per line, with the type.
    Quoted,
    /// Unchanged, one after the other.
    Literal,
}

impl TextStyle {
    fn push(self, text: &mut String, kind: &str, words: impl Display) -> fmt::Result {
        match self {
            Self::Quoted => writeln!(text, "{kind} \"{words}\""),
            Self::Literal => write!(text, "{words}"),
        }
    }
}

/// Appends the lines of a value that is nested inside `depth` containers; a message
/// is a container.
pub fn push_tree(text: &mut String, value: &Value, texts: TextStyle, depth: usize) {
    indent(text, depth);
    let _ = match value {
        Value::Byte(number) => writeln!(text, "byte {number}"),
        Value::Boolean(truth) => writeln!(text, "boolean {truth}"),
        Value::Int16(number) => writeln!(text, "int16 {number}"),
        Value::Uint16(number) => writeln!(text, "uint16 {number}"),
        Value::Int32(number) => writeln!(text, "int32 {number}"),
        Value::Uint32(number) => writeln!(text, "uint32 {number}"),
        Value::Int64(number) => writeln!(text, "int64 {number}"),
        Value::Uint64(number) => writeln!(text, "uint64 {number}"),
        Value::Double(value) => writeln!(text, "double {}", number::general(*value, 6)),
        Value::String(value) => texts.push(text, "string", value),
        Value::ObjectPath(path) => texts.push(text, "object path", path),
        Value::Signature(types) => texts.push(text, "signature", types),
        Value::UnixFd(_) => writeln!(text, "file descriptor"),
        Value::Variant(inside) => {
            text.push_str("variant ");
            return push_tree(text, inside, texts, depth + 1);
        }
        // dbus-monitor does not check the element type of an empty array.
        Value::Bytes(bytes) if !bytes.is_empty() => return push_bytes(text, bytes, depth),
        Value::Bytes(_) => return push_container(text, ("array [", "]"), [], texts, depth),
        Value::Array { items, .. } => {
            return push_container(text, ("array [", "]"), items, texts, depth);
        }
        Value::DictEntry(entry) => {
            let items = [&entry.0, &entry.1];
            return push_container(text, ("dict entry(", ")"), items, texts, depth);
        }
        Value::Struct(fields) => {
            return push_container(text, ("struct {", "}"), fields, texts, depth);
        }
    };
}

fn push_container<'v>(
    text: &mut String,
    (open, close): (&str, &str),
    items: impl IntoIterator<Item = &'v Value>,
    texts: TextStyle,
    depth: usize,
) {
    let _ = writeln!(text, "{open}");
    items.into_iter().for_each(|item| push_tree(text, item, texts, depth + 1));
    indent(text, depth);
    let _ = writeln!(text, "{close}");
}

/// Appends bytes as a text if they are printable ASCII, optionally with a final 0 byte.
fn push_bytes(text: &mut String, bytes: &[u8], depth: usize) {
    let (words, end) = match bytes {
        [words @ .., 0] => (words, " + \\0"),
        words => (words, ""),
    };
    if words.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        let _ = writeln!(text, "array of bytes \"{}\"{end}", String::from_utf8_lossy(words));
        return;
    }
    text.push_str("array of bytes [\n");
    let columns = (LINE.saturating_sub((depth + 1) * INDENT) / 3).max(COLUMNS_MIN);
    for line in bytes.chunks(columns) {
        indent(text, depth + 1);
        let line: Vec<_> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "{}", line.join(" "));
    }
    indent(text, depth);
    text.push_str("]\n");
}

fn indent(text: &mut String, depth: usize) {
    let width = depth * INDENT;
    let _ = write!(text, "{:width$}", "");
}

const INDENT: usize = 3;

/// Maximum width of a line of bytes in columns, and minimum number of bytes in it.
const LINE: usize = 80;
const COLUMNS_MIN: usize = 8;
