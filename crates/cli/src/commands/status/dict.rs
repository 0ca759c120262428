//! Dictionaries of the type `a{sv}` in the replies of a bus.

use std::collections::BTreeMap;

use client::wire::body::Value;
use notation::busctl;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

/// A dictionary of the type `a{sv}`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct StatusDict(pub(super) BTreeMap<String, Value>);

impl StatusDict {
    /// Returns the unsigned number under this key, if there is one.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        number(self.0.get(key)?)
    }

    /// Returns the unsigned number under this key, or 0.
    pub(super) fn count(&self, key: &str) -> u64 {
        self.number(key).unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_set(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Boolean(true))
    }

    /// Returns the strings of the array under this key.
    pub(super) fn texts(&self, key: &str) -> Vec<&str> {
        let Some(Value::Array { items, .. }) = self.0.get(key) else { return Vec::new() };
        let texts = items.iter().filter_map(|item| match item {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the entries of the dictionary of numbers under this key, the largest first.
    pub(super) fn counts(&self, key: &str) -> Vec<(&str, u64)> {
        let Some(Value::Array { items, .. }) = self.0.get(key) else { return Vec::new() };
        let entries = items.iter().filter_map(|item| match item {
            Value::DictEntry(entry) => match &**entry {
                (Value::String(key), value) => Some((key.as_str(), number(value)?)),
                _ => None,
            },
            _ => None,
        });
        let mut counts: Vec<_> = entries.collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

const fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Uint32(number) => Some(*number as u64),
        Value::Uint64(number) => Some(*number),
        _ => None,
    }
}

/// The JSON has the same keys as the bus.
impl Serialize for StatusDict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, json_of(value))))
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Variant(value) => json_of(value),
        Value::Array { items, .. } => json_of_array(items),
        Value::DictEntry(entry) => json!([json_of(&entry.0), json_of(&entry.1)]),
        Value::Struct(fields) => fields.iter().map(json_of).collect(),
        basic => {
            let mut text = String::new();
            busctl::push_json(&mut text, basic);
            serde_json::from_str(&text).unwrap_or_default()
        }
    }
}

/// A dictionary with strings as keys becomes an object; other arrays stay arrays.
fn json_of_array(items: &[Value]) -> Json {
    let entry = |item: &Value| match item {
        Value::DictEntry(entry) => match &**entry {
            (Value::String(key), value) => Some((key.clone(), json_of(value))),
            _ => None,
        },
        _ => None,
    };
    match items.iter().map(entry).collect::<Option<Map<_, _>>>() {
        Some(object) if !items.is_empty() => Json::Object(object),
        _ => items.iter().map(json_of).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use client::wire::signature::{Signature, SignatureBuf, Type};

    use super::*;

    #[test]
    fn values_are_converted_to_json() {
        let text = |text: &str| Value::from(text);
        let texts = |items| Value::Array { element: element_of("as"), items };
        let entry = Value::DictEntry(Box::new((text("a"), Value::Uint64(u64::MAX))));
        let dict = StatusDict(BTreeMap::from([
            ("Names".to_owned(), texts(vec![text("x"), text("y")])),
            ("None".to_owned(), texts(Vec::new())),
            (
                "Causes".to_owned(),
                Value::Array { element: element_of("a{st}"), items: vec![entry] },
            ),
            ("Losing".to_owned(), Value::Boolean(false)),
        ]));
        let expected = json!({
            "Names": ["x", "y"],
            "None": [],
            "Causes": { "a": u64::MAX },
            "Losing": false,
        });
        assert_eq!(serde_json::to_value(&dict).expect("it has texts for keys"), expected);
    }

    /// Returns the element type of an array type.
    pub(in super::super) fn element_of(array: &str) -> SignatureBuf {
        match Signature::new(array).ok().and_then(Signature::single) {
            Some(Type::Array(element)) => element.into(),
            other => panic!("{other:?}"),
        }
    }
}
