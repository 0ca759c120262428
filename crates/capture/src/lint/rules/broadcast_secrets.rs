//! L48: signals without a destination that carry a secret.

use super::prelude::*;
use wire::body::Value;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(48),
    title: "secrets in broadcasts",
    rating: Rating::Always(Severity::High),
    needs: Needs::Bodies,
    meaning: "A signal without a destination carries a value under a name such as password or \
              token. Every program on the bus can receive it.",
    thresholds: &[
        Threshold::count("signals with such a key and a text that is not empty", 1),
        Threshold::count("signals of one kind are looked at, evenly chosen", LOOKED_AT),
    ],
    advice: "Send a secret only to the program that asked for it, encrypted as the Secret Service \
             does; let signals say only that it has changed.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    lint.broadcasts().iter().filter_map(|signals| check_member(lint, signals)).collect()
}

fn check_member(lint: &Context<'_>, signals: &[Message<'_>]) -> Option<Finding> {
    let step = signals.len().div_ceil(LOOKED_AT);
    let with_keys = signals.iter().step_by(step).filter(|it| it.signature().contains("{s"));
    let told = with_keys.filter_map(|signal| Some((secret_in(lint, signal)?, *signal)));
    let told: Vec<_> = told.collect();
    let (key, first) = told.first()?;
    let shown: Vec<_> = told.iter().map(|(_, signal)| *signal).collect();
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about(format!("{} {key}", first.full_member()))
            .says(format!("broadcasts {} with \"{key}\" in it", short_name(first)))
            .confidence(Confidence::Medium)
            .shown_by(&shown)
            .query(queries::signals(lint, first)),
    )
}

fn secret_in(lint: &Context<'_>, signal: &Message<'_>) -> Option<String> {
    let values = lint.read(signal, |body| Value::read_args(body).ok())?;
    values.iter().find_map(secret)
}

/// The first key in a value that names a secret, and has one.
fn secret(value: &Value) -> Option<String> {
    match value {
        Value::Variant(inner) => secret(inner),
        Value::Array { items, .. } | Value::Struct(items) => items.iter().find_map(secret),
        Value::DictEntry(entry) => match &entry.0 {
            Value::String(key) if is_secret(key) && is_told(&entry.1) => Some(key.clone()),
            _ => secret(&entry.1),
        },
        _ => None,
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    WORDS.iter().any(|word| key.ends_with(word))
}

fn is_told(value: &Value) -> bool {
    match value {
        Value::Variant(inner) => is_told(inner),
        Value::String(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        _ => false,
    }
}

/// Endings of keys, in small letters.
const WORDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "psk",
    "private-key",
    "privatekey",
    "apikey",
];

const LOOKED_AT: usize = 64;
