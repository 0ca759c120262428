//! Values as `busctl monitor` and `busctl --verbose` print them: one line each, indented.

use std::fmt::Write as _;

use wire::body::Value;

use crate::{bytes, number, signature};

/// The lines of the arguments of a message, as `busctl call --verbose` prints them; empty
/// without arguments.
pub fn message_tree(values: &[Value]) -> String {
    let mut text = String::new();
    if !values.is_empty() {
        let types: String = values.iter().map(signature).collect();
        push_container(&mut text, "MESSAGE", &types, values, 0);
        text.push('\n');
    }
    text
}

/// Appends the lines of a value, indented by `indent` columns.
pub fn push_tree(text: &mut String, value: &Value, indent: usize) {
    let _ = write!(text, "{:indent$}", "");
    let _ = match value {
        Value::Byte(number) => writeln!(text, "BYTE {number};"),
        Value::Boolean(truth) => writeln!(text, "BOOLEAN {truth};"),
        Value::Int16(number) => writeln!(text, "INT16 {number};"),
        Value::Uint16(number) => writeln!(text, "UINT16 {number};"),
        Value::Int32(number) => writeln!(text, "INT32 {number};"),
        Value::Uint32(number) => writeln!(text, "UINT32 {number};"),
        Value::Int64(number) => writeln!(text, "INT64 {number};"),
        Value::Uint64(number) => writeln!(text, "UINT64 {number};"),
        Value::Double(value) => writeln!(text, "DOUBLE {};", number::general(*value, 6)),
        Value::String(value) => writeln!(text, "STRING \"{value}\";"),
        Value::ObjectPath(path) => writeln!(text, "OBJECT_PATH \"{path}\";"),
        Value::Signature(types) => writeln!(text, "SIGNATURE \"{types}\";"),
        Value::UnixFd(index) => writeln!(text, "UNIX_FD {index};"),
        Value::Variant(inside) => {
            return push_container(text, "VARIANT", &signature(inside), [&**inside], indent);
        }
        Value::Bytes(data) => {
            let items: Vec<_> = bytes(data).collect();
            return push_container(text, "ARRAY", "y", &items, indent);
        }
        Value::Array { element, items } => {
            return push_container(text, "ARRAY", element.as_str(), items, indent);
        }
        Value::DictEntry(entry) => {
            let types = signature(&entry.0) + &signature(&entry.1);
            return push_container(text, "DICT_ENTRY", &types, [&entry.0, &entry.1], indent);
        }
        Value::Struct(fields) => {
            let types: String = fields.iter().map(signature).collect();
            return push_container(text, "STRUCT", &types, fields, indent);
        }
    };
}

fn push_container<'v>(
    text: &mut String,
    word: &str,
    types: &str,
    items: impl IntoIterator<Item = &'v Value>,
    indent: usize,
) {
    let _ = writeln!(text, "{word} \"{types}\" {{");
    items.into_iter().for_each(|item| push_tree(text, item, indent + TAB));
    let _ = writeln!(text, "{:indent$}}};", "");
}

/// Indentation per nesting level, in columns.
const TAB: usize = 8;
