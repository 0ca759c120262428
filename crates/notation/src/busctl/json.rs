//! Values as `busctl --json` prints them. Unlike there, no entry is lost: a dictionary becomes an
//! object only if its keys are distinct texts.

use std::collections::HashSet;
use std::fmt::Write as _;

use wire::body::Value;

use crate::{json_string, number, push_separated, signature};

/// Writes values as a JSON list.
pub fn json_list(values: &[Value]) -> String {
    let mut text = String::new();
    push_json_list(&mut text, values);
    text
}

/// Appends values as a JSON list.
pub fn push_json_list(text: &mut String, values: &[Value]) {
    text.push('[');
    push_separated(text, ",", values, push_json);
    text.push(']');
}

/// Appends a value as JSON, without its type.
pub fn push_json(text: &mut String, value: &Value) {
    let _ = match value {
        Value::Byte(number) => write!(text, "{number}"),
        Value::Boolean(truth) => write!(text, "{truth}"),
        Value::Int16(number) => write!(text, "{number}"),
        Value::Uint16(number) => write!(text, "{number}"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Uint32(number) | Value::UnixFd(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Uint64(number) => write!(text, "{number}"),
        Value::Double(number) if number.is_finite() => {
            // busctl prints no negative zero: adding zero makes it positive.
            write!(text, "{}", number::exponential(*number + 0.0, DOUBLE_DIGITS))
        }
        Value::Double(_) => write!(text, "null"),
        Value::String(words) => write!(text, "{}", json_string(words)),
        Value::ObjectPath(path) => write!(text, "{}", json_string(&path.to_string())),
        Value::Signature(types) => write!(text, "{}", json_string(types.as_str())),
        Value::Variant(inside) => {
            let _ = write!(text, r#"{{"type":{},"data":"#, json_string(&signature(inside)));
            push_json(text, inside);
            return text.push('}');
        }
        Value::Bytes(bytes) => {
            let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
            write!(text, "[{}]", bytes.join(","))
        }
        Value::Array { element, items } if element.as_str().starts_with('{') => {
            return push_dict(text, items);
        }
        Value::Array { items, .. } | Value::Struct(items) => return push_json_list(text, items),
        Value::DictEntry(entry) => {
            text.push('[');
            push_json(text, &entry.0);
            text.push(',');
            push_json(text, &entry.1);
            return text.push(']');
        }
    };
}

/// Appends an object if the keys are distinct texts; otherwise a list of pairs, so that no entry is
/// lost.
fn push_dict(text: &mut String, items: &[Value]) {
    let entry = |item: &'_ Value| match item {
        Value::DictEntry(entry) => match &entry.0 {
            Value::String(key) => Some(key.clone()),
            Value::ObjectPath(path) => Some(path.to_string()),
            Value::Signature(types) => Some(types.to_string()),
            _ => None,
        },
        _ => None,
    };
    let Some(keys) = items.iter().map(entry).collect::<Option<Vec<_>>>() else {
        return push_json_list(text, items);
    };
    if keys.iter().collect::<HashSet<_>>().len() < keys.len() {
        return push_json_list(text, items);
    }
    text.push('{');
    push_separated(text, ",", keys.iter().zip(items), |text, (key, item)| {
        if let Value::DictEntry(entry) = item {
            let _ = write!(text, "{}:", json_string(key));
            push_json(text, &entry.1);
        }
    });
    text.push('}');
}

/// Digits after the decimal point in busctl's doubles.
const DOUBLE_DIGITS: usize = 21;
