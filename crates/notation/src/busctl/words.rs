//! Values as command-line words of busctl.

use wire::body::Value;

use crate::{scalar, signature};

/// The words of a value, without its signature.
pub fn words(value: &Value) -> Vec<String> {
    let mut words = Vec::new();
    push_words(value, &mut words);
    words
}

fn push_words(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Variant(inside) => {
            words.push(signature(inside));
            push_words(inside, words);
        }
        Value::Bytes(bytes) => {
            words.push(bytes.len().to_string());
            words.extend(bytes.iter().map(u8::to_string));
        }
        Value::Array { items, .. } => {
            words.push(items.len().to_string());
            items.iter().for_each(|item| push_words(item, words));
        }
        Value::Struct(items) => items.iter().for_each(|item| push_words(item, words)),
        Value::DictEntry(entry) => {
            push_words(&entry.0, words);
            push_words(&entry.1, words);
        }
        basic => words.push(scalar::text(basic)),
    }
}
