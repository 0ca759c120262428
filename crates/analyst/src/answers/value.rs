//! Values with their types, so that nothing of them is lost.

use serde_json::{Value as Json, json};
use wire::body::Value;
use wire::hex;

/// Values that are told of one message; what is beyond is counted.
const VALUES_MAX: usize = 20_000;

/// Makes JSON of values, as long as there is room.
#[derive(Debug)]
pub(super) struct Values {
    room: usize,
}

impl Values {
    pub(super) const fn new() -> Self {
        Self { room: VALUES_MAX }
    }

    /// A value with its type, and under one of these keys: `text` what a basic value says, all of its
    /// digits; `bytes` in hexadecimal; `inside` what a variant holds; `entries` of a dictionary, in
    /// pairs; `items` of all else. `more` is how many of these are left out.
    pub(super) fn tell(&mut self, value: &Value) -> Json {
        self.room = self.room.saturating_sub(1);
        let mut types = String::new();
        value.push_signature(&mut types);
        match value {
            Value::Variant(inside) => json!({"type": "v", "inside": self.tell(inside)}),
            Value::Bytes(bytes) => json!({"type": types, "bytes": hex::encode(bytes)}),
            Value::Array { element, items } if element.as_str().starts_with('{') => {
                self.many(&types, "entries", items)
            }
            Value::Array { items, .. } | Value::Struct(items) => self.many(&types, "items", items),
            Value::DictEntry(entry) => json!([self.tell(&entry.0), self.tell(&entry.1)]),
            basic => json!({"type": types, "text": notation::text(basic)}),
        }
    }

    fn many(&mut self, types: &str, key: &str, items: &[Value]) -> Json {
        let mut told = Vec::new();
        for item in items {
            if self.room == 0 {
                break;
            }
            told.push(self.tell(item));
        }
        let more = items.len() - told.len();
        let mut json = json!({"type": types, key: told});
        if more > 0 {
            json["more"] = more.into();
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(Values::new().tell(&value), expected);
        }
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let items = vec![Value::Byte(1); VALUES_MAX + 10];
        let told = Values::new().tell(&Value::Struct(items));
        assert_eq!(told["more"], 11, "the structure itself is one of the values");
    }
}
