//! Writing values as JSON, without copying: an array can have millions of bytes.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use wire::body::Value;

/// Serializes a value with its type.
pub(super) fn typed<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let mut types = String::new();
    value.push_signature(&mut types);
    let mut fields = serializer.serialize_struct("TypedValue", 2)?;
    fields.serialize_field("type", &types)?;
    fields.serialize_field("data", &Data(value))?;
    fields.end()
}

/// A value that is serialized without its type.
struct Data<'v>(&'v Value);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Byte(number) => serializer.serialize_u8(*number),
            Value::Boolean(truth) => serializer.serialize_bool(*truth),
            Value::Int16(number) => serializer.serialize_i16(*number),
            Value::Uint16(number) => serializer.serialize_u16(*number),
            Value::Int32(number) => serializer.serialize_i32(*number),
            Value::Uint32(number) | Value::UnixFd(number) => serializer.serialize_u32(*number),
            Value::Int64(number) => serializer.collect_str(number),
            Value::Uint64(number) => serializer.collect_str(number),
            Value::Double(number) => double(*number, serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::ObjectPath(path) => serializer.serialize_str(path.as_str()),
            Value::Signature(types) => serializer.serialize_str(types.as_str()),
            Value::Variant(inside) => typed(inside, serializer),
            Value::Bytes(bytes) => serializer.collect_seq(bytes),
            Value::Array { items, .. } | Value::Struct(items) => {
                serializer.collect_seq(items.iter().map(Data))
            }
            Value::DictEntry(entry) => serializer.collect_seq([Data(&entry.0), Data(&entry.1)]),
        }
    }
}

fn double<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        _ if number.is_nan() => serializer.serialize_str(NAN),
        f64::INFINITY => serializer.serialize_str(INFINITY),
        f64::NEG_INFINITY => serializer.serialize_str(NEGATIVE_INFINITY),
        finite => serializer.serialize_f64(finite),
    }
}

/// Strings for doubles that JSON numbers cannot represent.
pub(super) const NAN: &str = "NaN";
pub(super) const INFINITY: &str = "Infinity";
pub(super) const NEGATIVE_INFINITY: &str = "-Infinity";
