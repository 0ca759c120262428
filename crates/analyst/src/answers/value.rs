//! Values with their types, without any loss.

use serde::Serialize;
use wire::body::Value;
use wire::hex;

/// The maximum number of values in one answer; further values are only counted.
const VALUES_MAX: usize = 20_000;

/// A value with its type.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Value"))]
pub struct ValueNode {
    /// The type, as a signature.
    #[serde(rename = "type")]
    pub types: String,
    /// The name of an argument, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The content of the value.
    #[serde(flatten)]
    pub content: ValueContent,
}

/// The content of a value.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ValueContent {
    /// A basic value, as text.
    Text {
        /// The complete value as text.
        text: String,
    },
    /// An array of bytes.
    Bytes {
        /// The bytes as hexadecimal digits.
        bytes: String,
    },
    /// A variant, which contains another value.
    Inside {
        /// The value in the variant.
        inside: Box<ValueNode>,
    },
    /// A structure, or an array that is not a dictionary.
    Items {
        /// The values inside this value.
        items: Vec<ValueNode>,
        /// The number of omitted values.
        #[serde(skip_serializing_if = "is_zero")]
        more: usize,
    },
    /// A dictionary with its entries.
    Entries {
        /// The keys and their values.
        entries: Vec<(ValueNode, ValueNode)>,
        /// The number of omitted entries.
        #[serde(skip_serializing_if = "is_zero")]
        more: usize,
    },
}

/// Creates nodes of values until the maximum number is reached.
#[derive(Debug)]
pub(super) struct ValueTreeBuilder {
    /// The number of nodes that can still be created.
    left: usize,
}

impl ValueTreeBuilder {
    pub(super) const fn new() -> Self {
        Self { left: VALUES_MAX }
    }

    /// Converts a value to a node without a name.
    pub(super) fn node(&mut self, value: &Value) -> ValueNode {
        self.left = self.left.saturating_sub(1);
        let content = match value {
            Value::Variant(inside) => ValueContent::Inside { inside: Box::new(self.node(inside)) },
            Value::Bytes(bytes) => ValueContent::Bytes { bytes: hex::encode(bytes) },
            Value::Array { element, items } if element.as_str().starts_with('{') => {
                let entries = self.while_room(items, Self::entry);
                ValueContent::Entries { more: items.len() - entries.len(), entries }
            }
            Value::Array { items, .. } | Value::Struct(items) => {
                let nodes = self.while_room(items, Self::node);
                ValueContent::Items { more: items.len() - nodes.len(), items: nodes }
            }
            basic => ValueContent::Text { text: notation::text(basic) },
        };
        ValueNode { types: notation::signature(value), name: None, content }
    }

    fn entry(&mut self, entry: &Value) -> (ValueNode, ValueNode) {
        self.left = self.left.saturating_sub(1);
        match entry {
            Value::DictEntry(entry) => (self.node(&entry.0), self.node(&entry.1)),
            // By the contract of `Value`, all elements of such an array are entries.
            other => (self.node(other), self.node(other)),
        }
    }

    fn while_room<T>(
        &mut self,
        items: &[Value],
        mut make: impl FnMut(&mut Self, &Value) -> T,
    ) -> Vec<T> {
        let mut made = Vec::new();
        for item in items {
            if self.left == 0 {
                break;
            }
            made.push(make(self, item));
        }
        made
    }
}

const fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn serialized(value: &Value) -> serde_json::Value {
        serde_json::to_value(ValueTreeBuilder::new().node(value)).expect("texts and numbers")
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        for (value, expected) in [
            (Value::Int64(i64::MIN), json!({"type": "x", "text": "-9223372036854775808"})),
            (Value::Double(f64::NAN), json!({"type": "d", "text": "NaN"})),
            (Value::Bytes(vec![0, 255]), json!({"type": "ay", "bytes": "00ff"})),
            (
                Value::Variant(Box::new(Value::Boolean(true))),
                json!({"type": "v", "inside": {"type": "b", "text": "true"}}),
            ),
        ] {
            assert_eq!(serialized(&value), expected);
        }
    }

    #[test]
    fn values_beyond_the_maximum_are_counted() {
        let items = vec![Value::Byte(1); VALUES_MAX + 10];
        let json = serialized(&Value::Struct(items));
        assert_eq!(json["more"], 11, "the structure itself is one of the values");
    }
}
