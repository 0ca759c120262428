//! Dictionaries as a bus tells them.

use std::collections::BTreeMap;

use client::wire::body::Value;

/// An `a{sv}`, or what of it is asked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Dict(pub(super) BTreeMap<String, Value>);

impl Dict {
    /// A number, if there is one under this key.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        number(self.0.get(key)?)
    }

    /// A number, or none at all.
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

    /// The strings of an array.
    pub(super) fn texts(&self, key: &str) -> Vec<&str> {
        let Some(Value::Array { items, .. }) = self.0.get(key) else { return Vec::new() };
        let texts = items.iter().filter_map(|item| match item {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The entries of a dictionary of numbers, the largest first.
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
