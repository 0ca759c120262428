//! Messages as `busctl monitor` prints them.

use std::fmt::Write as _;

use wire::body::Value;
use wire::message::MessageType;

use super::{Body, bytes, number, push_named, signature, which_bus};
use crate::model::Message;
use crate::text::units::{date_and_time, printable};

pub(super) fn push(text: &mut String, message: &Message<'_>, body: &Body<'_>) {
    heading(text, message, body);
    names(text, message);
    if message.kind() == MessageType::Error {
        let _ = write!(text, "  ErrorName={}", message.member());
        if let Some(Value::String(words)) = body.values.first() {
            let _ = write!(text, "  ErrorMessage=\"{words}\"");
        }
        text.push('\n');
    }
    if message.sender().starts_with(':') {
        let _ = writeln!(text, "  UniqueName={}", message.sender());
    }
    if let Some(bus) = which_bus(message) {
        let _ = writeln!(text, "  Bus={}", printable(&bus));
    }
    let _ = writeln!(text, "  MESSAGE \"{}\" {{", message.signature());
    if let Some(problem) = body.problem {
        let _ = writeln!(text, "          ({})", problem.sentence(message));
    }
    for (name, value) in body.named() {
        push_named(text, name, |text| push_value(text, value, 1));
    }
    text.push_str("  };\n\n");
}

fn heading(text: &mut String, message: &Message<'_>, body: &Body<'_>) {
    let _ = write!(
        text,
        "\u{2023} Type={}  Endian={}  Flags={}  Version=1 Cookie={}",
        message.kind(),
        body.endian,
        message.flags().bits(),
        message.serial(),
    );
    if message.reply_serial() != 0 {
        let _ = write!(text, "  ReplyCookie={}", message.reply_serial());
    }
    let _ = writeln!(text, "  Timestamp=\"{}\"", date_and_time(message.at()));
}

fn names(text: &mut String, message: &Message<'_>) {
    let member = if message.kind() == MessageType::Error { "" } else { message.member() };
    let fields = [
        ("Sender", message.sender()),
        ("Destination", message.destination()),
        ("Path", message.path()),
        ("Interface", message.interface()),
        ("Member", member),
    ];
    let mut is_first = true;
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(text, "  {name}={value}");
        is_first = false;
    }
    if !is_first {
        text.push('\n');
    }
}

fn push_value(text: &mut String, value: &Value, depth: usize) {
    let indent = 2 + depth * 8;
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
            return push_container(text, "VARIANT", &signature(inside), [&**inside], depth);
        }
        Value::Bytes(data) => {
            let items: Vec<_> = bytes(data).collect();
            return push_container(text, "ARRAY", "y", &items, depth);
        }
        Value::Array { element, items } => {
            return push_container(text, "ARRAY", element.as_str(), items, depth);
        }
        Value::DictEntry(entry) => {
            let types = signature(&entry.0) + &signature(&entry.1);
            return push_container(text, "DICT_ENTRY", &types, [&entry.0, &entry.1], depth);
        }
        Value::Struct(fields) => {
            let types: String = fields.iter().map(signature).collect();
            return push_container(text, "STRUCT", &types, fields, depth);
        }
    };
}

fn push_container<'v>(
    text: &mut String,
    word: &str,
    types: &str,
    items: impl IntoIterator<Item = &'v Value>,
    depth: usize,
) {
    let _ = writeln!(text, "{word} \"{types}\" {{");
    items.into_iter().for_each(|item| push_value(text, item, depth + 1));
    let indent = 2 + depth * 8;
    let _ = writeln!(text, "{:indent$}}};", "");
}
