//! Values as `busctl call` and `busctl get-property` print them: one line, which busctl accepts as
//! input.

use std::fmt::Write as _;

use wire::body::Value;

use crate::{bytes, escape_letter, number, scalar, signature};

/// The signature of the values, followed by their words; empty if there are no values.
pub fn line(values: &[Value]) -> String {
    let mut text: String = values.iter().map(signature).collect();
    values.iter().for_each(|value| push(&mut text, value));
    text
}

fn push(text: &mut String, value: &Value) {
    let _ = match value {
        Value::Variant(inside) => {
            let _ = write!(text, " {}", signature(inside));
            return push(text, inside);
        }
        Value::Bytes(data) => {
            let _ = write!(text, " {}", data.len());
            return bytes(data).for_each(|byte| push(text, &byte));
        }
        Value::Array { items, .. } => {
            let _ = write!(text, " {}", items.len());
            return items.iter().for_each(|item| push(text, item));
        }
        Value::Struct(fields) => return fields.iter().for_each(|field| push(text, field)),
        Value::DictEntry(entry) => {
            push(text, &entry.0);
            return push(text, &entry.1);
        }
        Value::Double(number) => write!(text, " {}", number::general(*number, 6)),
        Value::String(_) | Value::ObjectPath(_) | Value::Signature(_) => {
            write!(text, " \"{}\"", escaped(&scalar::text(value)))
        }
        basic => write!(text, " {}", scalar::text(basic)),
    };
}

/// Escapes all characters except printable ASCII, as C does.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for byte in words.bytes() {
        let _ = match (char::from(byte), escape_letter(char::from(byte))) {
            (_, Some(letter)) => write!(text, "\\{letter}"),
            (mark @ ('\\' | '"' | '\''), None) => write!(text, "\\{mark}"),
            (seen @ ' '..='~', None) => write!(text, "{seen}"),
            (_, None) => write!(text, "\\{byte:03o}"),
        };
    }
    text
}
