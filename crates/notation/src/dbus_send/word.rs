//! Values as a word that begins with the type.

use wire::body::Value;
use wire::signature::{Signature, Type};

use crate::busctl::words;
use crate::{scalar, signature};

/// A value as `type:value`; `None` if dbus-send has no notation for it.
pub fn word(value: &Value) -> Option<String> {
    Some(match value {
        Value::Variant(inside) => format!("variant:{}", basic(inside)?),
        Value::Bytes(bytes) => {
            let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
            format!("array:byte:{}", bytes.join(","))
        }
        Value::Array { element, items } => match element.as_signature().single()? {
            Type::DictEntry(types) => {
                let mut words = types.types().map(type_word);
                let (key, of) = words.next().flatten().zip(words.next().flatten())?;
                format!("dict:{key}:{of}:{}", elements(items)?)
            }
            kind => format!("array:{}:{}", type_word(kind)?, elements(items)?),
        },
        value => basic(value)?,
    })
}

fn basic(value: &Value) -> Option<String> {
    let types = signature(value);
    let kind = type_word(Signature::new(&types).ok()?.single()?)?;
    Some(format!("{kind}:{}", scalar::text(value)))
}

/// Joins elements with commas; `None` if an element is empty or contains a comma, because dbus-send
/// cannot read it.
fn elements(items: &[Value]) -> Option<String> {
    let words: Vec<_> = items.iter().flat_map(words).collect();
    let is_lost = |word: &String| word.is_empty() || word.contains(',');
    (!words.iter().any(is_lost)).then(|| words.join(","))
}

/// The name of a type in dbus-send.
const fn type_word(kind: Type<'_>) -> Option<&'static str> {
    Some(match kind {
        Type::Byte => "byte",
        Type::Boolean => "boolean",
        Type::Int16 => "int16",
        Type::Uint16 => "uint16",
        Type::Int32 => "int32",
        Type::Uint32 => "uint32",
        Type::Int64 => "int64",
        Type::Uint64 => "uint64",
        Type::Double => "double",
        Type::String => "string",
        Type::ObjectPath => "objpath",
        _ => return None,
    })
}
