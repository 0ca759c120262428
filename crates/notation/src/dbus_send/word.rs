//! Values as a word with the type in front.

use wire::body::Value;

use crate::busctl::words;
use crate::scalar;

/// A value as `type:value`; `None` if dbus-send has no words for it.
pub fn word(value: &Value) -> Option<String> {
    Some(match value {
        Value::Variant(inside) => {
            let kind = type_word(inside)?;
            format!("variant:{kind}:{}", scalar::text(inside))
        }
        Value::Bytes(bytes) if !bytes.is_empty() => {
            let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
            format!("array:byte:{}", bytes.join(","))
        }
        Value::Array { items, .. } => match items.first()? {
            Value::DictEntry(entry) => {
                let (key, of) = (type_word(&entry.0)?, type_word(&entry.1)?);
                format!("dict:{key}:{of}:{}", elements(items)?)
            }
            item => format!("array:{}:{}", type_word(item)?, elements(items)?),
        },
        basic => format!("{}:{}", type_word(basic)?, scalar::text(basic)),
    })
}

/// Elements with commas between, if none has one.
fn elements(items: &[Value]) -> Option<String> {
    let words: Vec<_> = items.iter().flat_map(words).collect();
    (!words.iter().any(|word| word.contains(','))).then(|| words.join(","))
}

const fn type_word(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Byte(_) => "byte",
        Value::Boolean(_) => "boolean",
        Value::Int16(_) => "int16",
        Value::Uint16(_) => "uint16",
        Value::Int32(_) => "int32",
        Value::Uint32(_) => "uint32",
        Value::Int64(_) => "int64",
        Value::Uint64(_) => "uint64",
        Value::Double(_) => "double",
        Value::String(_) => "string",
        Value::ObjectPath(_) => "objpath",
        _ => return None,
    })
}
