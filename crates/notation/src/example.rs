//! Example values for error texts.

use wire::body::Value;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

/// A plausible value of the type.
pub(crate) fn example(kind: Type<'_>) -> Value {
    match kind {
        Type::Byte => Value::Byte(7),
        Type::Boolean => Value::Boolean(true),
        Type::Int16 => Value::Int16(7),
        Type::Uint16 => Value::Uint16(7),
        Type::Int32 => Value::Int32(7),
        Type::Uint32 => Value::Uint32(7),
        Type::Int64 => Value::Int64(7),
        Type::Uint64 => Value::Uint64(7),
        Type::Double => Value::Double(1.5),
        Type::String => Value::from("text"),
        Type::ObjectPath => Value::ObjectPath(ObjectPath::literal("/org/example").into()),
        Type::Signature => {
            Value::Signature(Signature::new("as").expect("a valid signature").into())
        }
        Type::UnixFd => Value::UnixFd(0),
        Type::Variant => Value::Variant(Box::new(Value::from("text"))),
        Type::Array(element) => crate::array(element, element.types().map(example).collect()),
        Type::Struct(types) => Value::Struct(types.types().map(example).collect()),
        Type::DictEntry(types) => {
            let mut pair = types.types().map(example);
            let (key, value) = pair.next().zip(pair.next()).expect("a key and a value");
            Value::DictEntry(Box::new((key, value)))
        }
    }
}
