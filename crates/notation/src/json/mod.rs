//! Values as JSON that keep their types, and back.
//!
//! The shape is that of `busctl --json`: a value is an object of its type and its data,
//! `{"type":"a{sv}","data":…}`, and so is what a variant holds. In the data nothing is lost, unlike
//! there:
//!
//! | type | data |
//! | --- | --- |
//! | `y n q i u` | a number |
//! | `x t` | a text of digits, as many readers of JSON keep only 53 bits of a number |
//! | `h` | a number: the place of the descriptor among those of the message |
//! | `d` | a number, or one of the texts `NaN`, `Infinity`, `-Infinity`; one NaN is as good as another |
//! | `b` | `true`, `false` |
//! | `s o g` | a text |
//! | `v` | `{"type":…,"data":…}` |
//! | `(…)` | a list of the fields |
//! | `a{…}` | a list of pairs, `[key, value]`, in their order |
//! | other `a` | a list, that of bytes too |
//!
//! What is written so can be read again. Besides, what people write is read: a number for `x` and
//! `t`, and an object for a dictionary. Its keys are texts; those of other types are read from
//! them. Nothing else is guessed: a number with a fraction is no integer, a text is no number, and
//! a variant says its type.

mod example;
mod read;
mod write;

pub use example::example;
pub use read::{read_arguments, read_value};
use serde::Serialize;
use wire::body::Value;

/// A value that is serialised with its type.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedValue(pub Value);

/// JSON, as `serde_json` has it.
pub type Json = serde_json::Value;

impl TypedValue {
    /// The type.
    pub fn signature(&self) -> String {
        crate::signature(&self.0)
    }
}

impl From<Value> for TypedValue {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

impl Serialize for TypedValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write::typed(&self.0, serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TypedValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TypedValue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let data = generator.subschema_for::<Json>();
        schemars::json_schema!({
            "description": "A value with its type.",
            "type": "object",
            "properties": { "type": { "type": "string" }, "data": data },
            "required": ["type", "data"],
        })
    }
}
