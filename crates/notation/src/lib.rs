//! Text forms of D-Bus values: reading and writing them.
//!
//! Each form follows a well-known program. Output is identical to the program's output, byte for
//! byte:
//!
//! | form | a value | accepted input |
//! | --- | --- | --- |
//! | [`busctl`] | `as 2 "one" "two"` | the words after the signature |
//! | [`gvariant`] | `['one', 'two']` | one word per argument, as gdbus reads it |
//! | [`dbus_send`] | lines that begin with the type | `array:string:one,two` |
//! | [`json`] | `{"type":"as","data":["one","two"]}` | the data alone |
//!
//! [`guess`] detects the form of given arguments. Input is checked against the expected types; an
//! [`ArgumentError`] states the wrong argument, its type, its value and an example. This crate does
//! no input or output: the caller passes in a [`DescriptorOpener`].

#![forbid(unsafe_code)]

pub mod busctl;
pub mod dbus_send;
mod error;
mod example;
mod expected;
pub mod guess;
pub mod gvariant;
pub mod json;
mod number;
mod scalar;

pub use error::{ArgumentError, MismatchReason, MismatchStep, TypeMismatch};
pub use scalar::text;

use wire::body::Value;
use wire::signature::Signature;

/// Opens the file descriptor that a word names, and returns its index among the descriptors of the
/// message; the error is a sentence with the reason.
pub type DescriptorOpener<'o> = &'o mut dyn FnMut(&str) -> Result<u32, String>;

/// The signature of a value.
pub fn signature(value: &Value) -> String {
    let mut text = String::new();
    value.push_signature(&mut text);
    text
}

/// Parses a signature.
///
/// # Errors
///
/// If the text is not a valid signature.
pub fn parse_signature(signature: &str) -> Result<Signature<'_>, ArgumentError> {
    Signature::new(signature)
        .map_err(|error| ArgumentError::Signature { text: signature.into(), error })
}

/// The letter of the C escape sequence for a control character, as in `\n`.
const fn escape_letter(character: char) -> Option<char> {
    Some(match character {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        _ => return None,
    })
}

/// Appends items with a separator between them.
fn push_separated<T>(
    text: &mut String,
    separator: &str,
    things: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    for (index, thing) in things.into_iter().enumerate() {
        text.push_str(if index > 0 { separator } else { "" });
        push(text, thing);
    }
}

/// The elements of a byte array as values.
fn bytes(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes.iter().map(|&byte| Value::Byte(byte))
}

/// Makes an array of these elements; bytes become [`Value::Bytes`].
fn array(element: Signature<'_>, items: Vec<Value>) -> Value {
    if element.as_bytes() != b"y" {
        return Value::Array { element: element.into(), items };
    }
    let byte = |item: &Value| match item {
        Value::Byte(byte) => Some(*byte),
        _ => None,
    };
    Value::Bytes(items.iter().filter_map(byte).collect())
}

/// A text as a JSON string, with quotes.
fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
