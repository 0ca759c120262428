//! Writing values in the GVariant text format.

use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};
use wire::body::Value;

use crate::{bytes, escape_letter, number, push_separated, signature};

/// Writes values as a tuple.
pub fn tuple(values: &[Value]) -> String {
    let mut text = String::new();
    push_tuple(&mut text, values, TypeAnnotations::Written);
    text
}

/// Appends a value, with a type annotation if the default type would be another one.
pub fn push(text: &mut String, value: &Value) {
    push_value(text, value, TypeAnnotations::Written);
}

/// Writes a value with type annotations.
pub fn value(value: &Value) -> String {
    let mut text = String::new();
    push_value(&mut text, value, TypeAnnotations::Written);
    text
}

/// Writes a value without type annotations, except inside variants. The reader must know the type.
pub fn untyped(value: &Value) -> String {
    let mut text = String::new();
    push_value(&mut text, value, TypeAnnotations::Omitted);
    text
}

/// Whether to write type annotations where the text has another default type. In an array, only the
/// first element is annotated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeAnnotations {
    Written,
    Omitted,
}

fn push_value(text: &mut String, value: &Value, types: TypeAnnotations) {
    if types == TypeAnnotations::Written {
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
            push_value(text, inside, TypeAnnotations::Written);
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

/// The type annotation of a value whose text has another default type.
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

fn push_tuple(text: &mut String, fields: &[Value], types: TypeAnnotations) {
    text.push('(');
    push_separated(text, ", ", fields, |text, field| push_value(text, field, types));
    text.push_str(if fields.len() == 1 { ",)" } else { ")" });
}

fn push_array(text: &mut String, array: &Value, items: &[Value], types: TypeAnnotations) {
    let (open, close) = match array {
        Value::Array { element, .. } if element.as_str().starts_with('{') => ('{', '}'),
        _ => ('[', ']'),
    };
    if items.is_empty() && types == TypeAnnotations::Written {
        let _ = write!(text, "@{} ", signature(array));
    }
    text.push(open);
    let mut types = types;
    push_separated(text, ", ", items, |text, item| {
        push_value(text, item, types);
        types = TypeAnnotations::Omitted;
    });
    text.push(close);
}

/// Appends bytes, as a byte string if their only 0 byte is the last one.
fn push_bytes(text: &mut String, data: &[u8], types: TypeAnnotations) {
    if data.iter().position(|&byte| byte == 0).is_some_and(|at| at + 1 == data.len()) {
        let words = &data[..data.len() - 1];
        let quote = if words.contains(&b'\'') { '"' } else { '\'' };
        let _ = write!(text, "b{quote}{}{quote}", escaped(words));
        return;
    }
    let items: Vec<_> = bytes(data).collect();
    push_array(text, &Value::Bytes(data.to_vec()), &items, types);
}

/// Escapes all bytes except printable ASCII.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        // GLib does not write `\a` in byte strings.
        let letter = escape_letter(char::from(byte)).filter(|letter| *letter != 'a');
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
        let _ = match (c, escape_letter(c)) {
            (_, Some(letter)) => write!(text, "\\{letter}"),
            (mark, None) if mark == '\\' || mark == quote => write!(text, "\\{mark}"),
            (unseen, None) if needs_escape(unseen) => match u32::from(unseen) {
                code @ ..=0xFFFF => write!(text, "\\u{code:04x}"),
                code => write!(text, "\\U{code:08x}"),
            },
            (seen, None) => write!(text, "{seen}"),
        };
    }
    text.push(quote);
}

/// True for characters that GLib escapes: control, format and unassigned characters.
fn needs_escape(c: char) -> bool {
    use GeneralCategory::{Control, Format, Unassigned};
    matches!(get_general_category(c), Control | Format | Unassigned)
}

/// Writes a double so that it does not read as an integer: with a decimal point or an exponent.
fn double(value: f64) -> String {
    let text = number::general(value, 17);
    if text.contains(['.', 'e', 'n']) { text } else { text + ".0" }
}
