//! Values of D-Bus as people and programs write them, and back.
//!
//! Each form is that of a program that people know, to the byte where it prints the same:
//!
//! | form | a value | what is read |
//! | --- | --- | --- |
//! | [`busctl`] | `as 2 "one" "two"` | the words behind the signature |
//! | [`gvariant`] | `['one', 'two']` | as gdbus reads it, a word for each argument |
//! | [`dbus_send`] | lines with the type in front | `array:string:one,two` |
//! | [`json`] | `{"type":"as","data":["one","two"]}` | the data alone |
//!
//! Which of these somebody wrote, [`guess`] decides. What is read is checked against the type that it must have, and what does not fit is said so that
//! one can mend it ([`ArgumentError`]). Nothing here opens or asks anything: descriptors come from
//! whom they are asked of ([`DescriptorOpener`]).

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

pub use error::{ArgumentError, Misfit, MisfitReason, MisfitStep};
pub use scalar::text;

use wire::body::Value;
use wire::signature::Signature;

/// Opens what a word names, and gives its place among the descriptors of the message; or a sentence why
/// not.
pub type DescriptorOpener<'o> = &'o mut dyn FnMut(&str) -> Result<u32, String>;

/// The type of a value.
pub fn signature(value: &Value) -> String {
    let mut text = String::new();
    value.push_signature(&mut text);
    text
}

/// The signature that a text is.
///
/// # Errors
///
/// If it is none.
pub fn checked(signature: &str) -> Result<Signature<'_>, ArgumentError> {
    Signature::new(signature)
        .map_err(|error| ArgumentError::Signature { text: signature.into(), error })
}

/// The letter that C has behind a backslash for what cannot be printed.
const fn letter(character: char) -> Option<char> {
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

/// Appends things with a separator between them.
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

/// The elements of an array of bytes, as others have theirs.
fn bytes(bytes: &[u8]) -> impl Iterator<Item = Value> {
    bytes.iter().map(|&byte| Value::Byte(byte))
}

/// An array of these elements.
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

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
