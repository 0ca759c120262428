//! Values as GVariant has them.

use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};
use wire::body::Value;

use crate::{bytes, letter, number, push_separated, signature};

/// Values as one tuple.
pub fn tuple(values: &[Value]) -> String {
    let mut text = String::new();
    push_tuple(&mut text, values, WrittenTypes::Shown);
    text
}

/// Appends a value, with its type where that is not what one would think of.
pub fn push(text: &mut String, value: &Value) {
    push_value(text, value, WrittenTypes::Shown);
}

/// A value alone.
pub fn value(value: &Value) -> String {
    let mut text = String::new();
    push_value(&mut text, value, WrittenTypes::Shown);
    text
}

/// A value alone, for who knows its type: of that, nothing is written outside of variants.
pub fn untyped(value: &Value) -> String {
    let mut text = String::new();
    push_value(&mut text, value, WrittenTypes::Known);
    text
}

/// Whether types are written where the value does not tell them. In an array the first element
/// tells those of all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenTypes {
    Shown,
    Known,
}

fn push_value(text: &mut String, value: &Value, types: WrittenTypes) {
    if types == WrittenTypes::Shown {
        text.push_str(annotation(value));
    }
    let _ = match value {
        Value::Byte(number) => write!(text, "0x{number:02x}"),
        Value::Boolean(truth) => write!(text, "{truth}"),
        Value::Int16(number) => write!(text, "{number}"),
        Value::Uint16(number) => write!(text, "{number}"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Uint32(number) | Value::UnixFd(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Uint64(number) => write!(text, "{number}"),
        Value::Double(number) => return text.push_str(&double(*number)),
        Value::String(words) => return push_string(text, words),
        Value::ObjectPath(path) => write!(text, "'{path}'"),
        Value::Signature(types) => write!(text, "'{types}'"),
        Value::Variant(inside) => {
            text.push('<');
            push_value(text, inside, WrittenTypes::Shown);
            return text.push('>');
        }
        Value::Bytes(data) => return push_bytes(text, data, types),
        Value::Array { items, .. } => return push_array(text, value, items, types),
        Value::DictEntry(entry) => {
            push_value(text, &entry.0, types);
            text.push_str(": ");
            return push_value(text, &entry.1, types);
        }
        Value::Struct(fields) => return push_tuple(text, fields, types),
    };
}

/// The type in front of a value that is not what its text says without.
const fn annotation(value: &Value) -> &'static str {
    match value {
        Value::Byte(_) => "byte ",
        Value::Int16(_) => "int16 ",
        Value::Uint16(_) => "uint16 ",
        Value::Uint32(_) => "uint32 ",
        Value::Int64(_) => "int64 ",
        Value::Uint64(_) => "uint64 ",
        Value::ObjectPath(_) => "objectpath ",
        Value::Signature(_) => "signature ",
        Value::UnixFd(_) => "handle ",
        _ => "",
    }
}

fn push_tuple(text: &mut String, fields: &[Value], types: WrittenTypes) {
    text.push('(');
    push_separated(text, ", ", fields, |text, field| push_value(text, field, types));
    text.push_str(if fields.len() == 1 { ",)" } else { ")" });
}

fn push_array(text: &mut String, array: &Value, items: &[Value], types: WrittenTypes) {
    let (open, close) = match array {
        Value::Array { element, .. } if element.as_str().starts_with('{') => ('{', '}'),
        _ => ('[', ']'),
    };
    if items.is_empty() && types == WrittenTypes::Shown {
        let _ = write!(text, "@{} ", signature(array));
    }
    text.push(open);
    let mut types = types;
    push_separated(text, ", ", items, |text, item| {
        push_value(text, item, types);
        types = WrittenTypes::Known;
    });
    text.push(close);
}

/// Bytes that end in their only zero are a text.
fn push_bytes(text: &mut String, data: &[u8], types: WrittenTypes) {
    if data.iter().position(|&byte| byte == 0).is_some_and(|at| at + 1 == data.len()) {
        let words = &data[..data.len() - 1];
        let quote = if words.contains(&b'\'') { '"' } else { '\'' };
        let _ = write!(text, "b{quote}{}{quote}", escaped(words));
        return;
    }
    let items: Vec<_> = bytes(data).collect();
    push_array(text, &Value::Bytes(data.to_vec()), &items, types);
}

/// Bytes with what is not printable ASCII escaped.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        // GLib has no letter for the bell here.
        let letter = letter(char::from(byte)).filter(|letter| *letter != 'a');
        let _ = match (char::from(byte), letter) {
            (_, Some(letter)) => write!(text, "\\{letter}"),
            (mark @ ('\\' | '"'), None) => write!(text, "\\{mark}"),
            (seen @ ' '..='~', None) => write!(text, "{seen}"),
            (_, None) => write!(text, "\\{byte:03o}"),
        };
    }
    text
}

fn push_string(text: &mut String, words: &str) {
    let quote = if words.contains('\'') { '"' } else { '\'' };
    text.push(quote);
    for c in words.chars() {
        let _ = match (c, letter(c)) {
            (_, Some(letter)) => write!(text, "\\{letter}"),
            (mark, None) if mark == '\\' || mark == quote => write!(text, "\\{mark}"),
            (unseen, None) if is_unseen(unseen) => match u32::from(unseen) {
                code @ ..=0xFFFF => write!(text, "\\u{code:04x}"),
                code => write!(text, "\\U{code:08x}"),
            },
            (seen, None) => write!(text, "{seen}"),
        };
    }
    text.push(quote);
}

/// Whether a character cannot be seen: it controls, says how others are set, or is none.
fn is_unseen(c: char) -> bool {
    use GeneralCategory::{Control, Format, Unassigned};
    matches!(get_general_category(c), Control | Format | Unassigned)
}

/// It has a point or an exponent, so that it is no whole number.
fn double(value: f64) -> String {
    let text = number::general(value, 17);
    if text.contains(['.', 'e', 'n']) { text } else { text + ".0" }
}
