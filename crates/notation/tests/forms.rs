//! What is written in a form is read from it again, for any value.

use notation::{busctl, dbus_send, gvariant, json, signature};
use serde_json::Value as Json;
use testkit::random::{Random, rounds};
use testkit::values::has_descriptor;
use wire::body::Value;
use wire::signature::Signature;

/// Descriptors are opened by nobody here: a word is its place.
fn place(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("{word} is no place"))
}

/// Arguments of a message, and their types.
fn arguments(random: &mut Random) -> (String, Vec<Value>) {
    let text = random.signature();
    let values = random.values(Signature::new(&text).expect("it is valid"));
    (text, values)
}

#[test]
fn words_of_busctl() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        let words: Vec<_> = values.iter().flat_map(busctl::words).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert_eq!(busctl::read_arguments(&types, &words, &mut place), Ok(values), "{words:?}");
    }
}

#[test]
fn text_of_gvariant() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        // A descriptor in front of which its type stands is a place; as an argument it is to be opened.
        let words = values.iter().map(|value| match value {
            Value::UnixFd(place) => place.to_string(),
            value => gvariant::value(value),
        });
        let words: Vec<_> = words.collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert_eq!(gvariant::read_arguments(&types, &words, &mut place), Ok(values), "{words:?}");
    }
}

#[test]
fn text_of_gvariant_says_its_type() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (_, values) = arguments(&mut random);
        for value in values {
            let text = gvariant::value(&value);
            assert_eq!(gvariant::read_untyped(&text, &mut place), Ok(value), "{text}");
        }
    }
}

#[test]
fn words_of_dbus_send() {
    let mut random = Random::from_env();
    let mut told = 0;
    let rounds = rounds(5_000);
    for _ in 0..rounds {
        let (_, values) = arguments(&mut random);
        for value in values {
            let word = match dbus_send::word(&value) {
                Some(word) => {
                    told += 1;
                    word
                }
                None if matches!(value, Value::UnixFd(_)) => continue,
                None => format!("{}:{}", signature(&value), gvariant::value(&value)),
            };
            let read = dbus_send::read_arguments(&[&word], &mut place);
            assert_eq!(read, Ok(vec![value]), "{word}");
        }
    }
    assert!(told > rounds / 5, "dbus-send has words for {told} values");
}

#[test]
fn json_with_types() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        // Descriptors cannot be written in JSON.
        if values.iter().any(has_descriptor) {
            continue;
        }
        let data: Vec<Json> = values
            .iter()
            .map(|value| {
                let typed = json::TypedValue(value.clone());
                serde_json::to_value(&typed).expect("it can be JSON")["data"].take()
            })
            .collect();
        assert_eq!(json::read_arguments(&types, &data), Ok(values), "{data:?}");
    }
}
