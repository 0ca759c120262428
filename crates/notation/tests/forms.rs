//! Round trips: each form can be read back for random values.

use notation::{busctl, dbus_send, gvariant, json, signature};
use serde_json::Value as Json;
use testkit::random::{Random, rounds};
use testkit::values::has_descriptor;
use wire::body::Value;
use wire::signature::Signature;

/// Uses the number in the word as the descriptor index; no descriptors are opened.
fn place(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("{word} is not a descriptor index"))
}

/// Random arguments with their signature.
fn arguments(random: &mut Random) -> (String, Vec<Value>) {
    let text = random.signature();
    let values = random.values(Signature::new(&text).expect("a valid signature"));
    (text, values)
}

#[test]
fn busctl_words_round_trip() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        let words: Vec<_> = values.iter().flat_map(busctl::words).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert_eq!(busctl::read_arguments(&types, &words, &mut place), Ok(values), "{words:?}");
    }
}

#[test]
fn gvariant_text_with_known_types_round_trips() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        // A whole argument is a descriptor to open, so it must be a bare number here.
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
fn annotated_gvariant_text_round_trips() {
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
fn dbus_send_words_round_trip() {
    let mut random = Random::from_env();
    let mut written = 0;
    let rounds = rounds(5_000);
    for _ in 0..rounds {
        let (_, values) = arguments(&mut random);
        for value in values {
            let word = match dbus_send::word(&value) {
                Some(word) => {
                    written += 1;
                    word
                }
                None if matches!(value, Value::UnixFd(_)) => continue,
                None => format!("{}:{}", signature(&value), gvariant::value(&value)),
            };
            let read = dbus_send::read_arguments(&[&word], &mut place);
            assert_eq!(read, Ok(vec![value]), "{word}");
        }
    }
    assert!(written > rounds / 5, "dbus-send has words for {written} values");
}

#[test]
fn typed_json_round_trips() {
    let mut random = Random::from_env();
    for _ in 0..rounds(2_000) {
        let (types, values) = arguments(&mut random);
        // JSON has no notation for descriptors.
        if values.iter().any(has_descriptor) {
            continue;
        }
        let data: Vec<Json> = values
            .iter()
            .map(|value| {
                let typed = json::TypedValue(value.clone());
                serde_json::to_value(&typed).expect("a JSON value")["data"].take()
            })
            .collect();
        assert_eq!(json::read_arguments(&types, &data), Ok(values), "{data:?}");
    }
}
