//! Values as JSON that preserves their types.
//!
//! The shape is the same as in `busctl --json`: a value is an object with its type and its data,
//! `{"type":"a{sv}","data":…}`, also inside variants. Unlike in busctl, the data is lossless:
//!
//! | type | data |
//! | --- | --- |
//! | `y n q i u` | a number |
//! | `x t` | a string of digits, because many JSON readers keep only 53 bits of a number |
//! | `h` | a number: the index of the descriptor in the message |
//! | `d` | a number, or one of the strings `NaN`, `Infinity`, `-Infinity`; the bits of a NaN are not kept |
//! | `b` | `true`, `false` |
//! | `s o g` | a string |
//! | `v` | `{"type":…,"data":…}` |
//! | `(…)` | a list of the fields |
//! | `a{…}` | a list of pairs, `[key, value]`, in their order |
//! | other `a` | a list, also for bytes |
//!
//! All output can be read again. Input can also be in a form that is easier to write: a number for
//! `x` and `t`, and an object for a dictionary, whose keys are converted to the type of the key.
//! There are no other conversions: a number with a fraction is not an integer, a string is not a
//! number, and a variant must have its type.

mod example;
mod read;
mod write;

pub use example::example;
pub use read::{read_arguments, read_value};
use serde::Serialize;
use wire::body::Value;

/// A value that is serialized with its type.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedValue(pub Value);

/// A JSON value of `serde_json`.
pub type Json = serde_json::Value;

impl TypedValue {
    /// The signature of the value.
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
