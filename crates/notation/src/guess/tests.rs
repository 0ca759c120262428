use testkit::forms::{FORMS, ValueForm};

use super::FirstWord::{Argument, SignatureOrArgument};
use super::*;

fn read_words(words: &[&str], reading: &ArgumentReading) -> Vec<Value> {
    read(reading, words, &mut accept_any_descriptor).expect("decide checked the words")
}

#[test]
fn all_forms_of_a_value_read_the_same() {
    for &ValueForm { types, busctl, gvariant, dbus_send, json } in FORMS {
        let with_signature: Vec<_> = [types].into_iter().chain(busctl.iter().copied()).collect();
        let expected = ExpectedTypes::OneOf(&[types]);
        let decided = decide(&with_signature, expected, SignatureOrArgument).unwrap();
        assert_eq!(decided.forms, [Syntax::Busctl], "{with_signature:?}");
        let values = read_words(&with_signature, &decided);
        for (word, syntax) in
            [(gvariant, Syntax::Gvariant), (dbus_send, Syntax::DbusSend), (json, Syntax::Json)]
        {
            let forced = decide_forced(&[word], expected, syntax).unwrap_or_else(|error| {
                panic!("{word:?} as {syntax} for {types:?}: {error}");
            });
            assert_eq!(read_words(&[word], &forced), values, "{word:?} as {syntax}");
            let guessed = decide(&[word], expected, SignatureOrArgument).unwrap_or_else(|error| {
                panic!("{word:?} for {types:?}: {error}");
            });
            assert_eq!(read_words(&[word], &guessed), values, "{word:?} guessed");
        }
    }
}

#[test]
fn forms_and_types_of_arguments_are_detected() {
    use Syntax::{Busctl, DbusSend, Gvariant, Json};
    for (expected, words, signature, forms) in [
        // The first word is the signature, or a string in quotes.
        (Some("s"), &["s", "text"][..], "s", &[Busctl][..]),
        (Some("s"), &["\"s\""], "s", &[Gvariant]),
        (Some("s"), &["'s'"], "s", &[Gvariant]),
        (Some("s"), &["u"], "s", &[Gvariant]),
        (Some("ss"), &["\"ss\"", "a"], "ss", &[Gvariant, Gvariant]),
        (None, &["\"s\""], "s", &[Gvariant]),
        (Some(""), &[], "", &[]),
        (Some("ai"), &["ai", "0"], "ai", &[Busctl]),
        // Type annotations count only if they match the expected types.
        (Some("s"), &["string:text"], "s", &[DbusSend]),
        (Some("s"), &["int32:7"], "s", &[Gvariant]),
        (Some("su"), &["string:a", "uint32:1"], "su", &[DbusSend, DbusSend]),
        (Some("sa{sv}"), &["a", r#"{"b":{"type":"y","data":7}}"#], "sa{sv}", &[Gvariant, Json]),
        (Some("v"), &["7"], "v", &[Gvariant]),
        (Some("b"), &["yes"], "b", &[Gvariant]),
        // The types are unknown.
        (None, &["as", "1", "a"], "as", &[Busctl]),
        (None, &["string:a", "array:int32:1"], "sai", &[DbusSend, DbusSend]),
        (None, &["7", "true"], "ib", &[Gvariant, Gvariant]),
        (None, &["plain text"], "s", &[Gvariant]),
    ] {
        let wanted_types = expected.map(|types| [types]);
        let expected = wanted_types
            .as_ref()
            .map_or(ExpectedTypes::Anything, |types| ExpectedTypes::OneOf(types));
        let reading = decide(words, expected, SignatureOrArgument)
            .unwrap_or_else(|error| panic!("{words:?}: {error}"));
        assert_eq!(reading.signature, signature, "{words:?}");
        match words.is_empty() {
            true => assert_eq!(read_words(words, &reading), []),
            false => assert_eq!(reading.forms, forms, "{words:?}"),
        }
    }
}

#[test]
fn the_matching_variant_of_a_method_is_chosen() {
    let expected = ExpectedTypes::OneOf(&["u", "s", "ss"]);
    for (words, signature) in
        [(&["7"][..], "u"), (&["text"], "s"), (&["a", "b"], "ss"), (&["ss", "a", "b"], "ss")]
    {
        let reading = decide(words, expected, SignatureOrArgument).unwrap();
        assert_eq!(reading.signature, signature, "{words:?}");
    }
    for word in ["u", "s", "ss"] {
        let error = decide(&[word], expected, SignatureOrArgument).unwrap_err().to_string();
        assert!(error.contains(&format!("too few arguments for signature \"{word}\"")), "{error}");
    }
}

#[test]
fn mismatches_are_reported_in_the_detected_form() {
    for (expected, words, parts) in [
        ("u", &["-1"][..], &["argument 1 ", "from 0 to 4294967295 (u)", "is -1", "example: 7"][..]),
        ("su", &["su", "a", "x", "y"], &["argument 2", "but is x", "example: 7"]),
        ("su", &["a"], &["too few arguments for signature \"su\": expected 2, got 1"]),
        ("as", &["one"], &["argument 1 must be an array (as)", "example: ['text']"]),
    ] {
        let expected = ExpectedTypes::OneOf(&[expected]);
        let error = decide(words, expected, SignatureOrArgument).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "no {part:?} in {error:?}");
        }
    }
    let wrong =
        decide_forced(&["int32:1"], ExpectedTypes::OneOf(&["s"]), Syntax::DbusSend).unwrap_err();
    assert!(wrong.to_string().contains("which is of type i"), "{wrong}");
}

#[test]
fn first_words_that_look_like_signatures_are_never_sent_as_strings() {
    for (expected, words, error) in [
        // The argument is missing, or a script's variable is empty.
        (Some("s"), &["s"][..], "too few arguments for signature \"s\": expected 1, got 0"),
        (Some("ss"), &["ss", "a"], "too few arguments for signature \"ss\": expected 2, got 1"),
        (Some("as"), &["as"], "too few arguments for signature \"as\": expected 1, got 0"),
        (
            Some("as"),
            &["as", "2", "a"],
            "argument 1, element 2 must be a string (s), but is missing",
        ),
        (Some("v"), &["v"], "too few arguments for signature \"v\": expected 1, got 0"),
        (None, &["s"], "too few arguments for signature \"s\": expected 1, got 0"),
        (None, &["v"], "too few arguments for signature \"v\": expected 1, got 0"),
        (None, &["dog"], "too few arguments for signature \"dog\": expected 3, got 0"),
        // Malformed signatures.
        (None, &["a{vs}", "0"], "\"a{vs}\" is not a valid signature: "),
        (None, &["a"], "\"a\" is not a valid signature: "),
        (None, &["(s", "x"], "\"(s\" is not a valid signature: "),
        (None, &["{}"], "\"{}\" is not a valid signature: "),
        (None, &["s", "x", "y"], "too many arguments for signature \"s\": unexpected \"y\""),
    ] {
        let known = expected.map(|types| [types]);
        let known =
            known.as_ref().map_or(ExpectedTypes::Anything, |types| ExpectedTypes::OneOf(types));
        let found = decide(words, known, SignatureOrArgument).unwrap_err().to_string();
        assert!(found.starts_with(error), "{words:?}: {found}");
        // With known types the error is certain; otherwise the first word may be an argument.
        let hint = format!("write it in quotes: '\"{}\"'", words[0]);
        assert_eq!(
            found.ends_with(&hint),
            found.contains("too few") || expected.is_none(),
            "{found}"
        );
        if found.ends_with(&hint) {
            let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let quoted: Vec<_> = quoted.iter().map(String::as_str).collect();
            assert!(
                decide(&quoted, ExpectedTypes::Anything, SignatureOrArgument).is_ok(),
                "{quoted:?}"
            );
        }
    }
    // gdbus does not take a signature as the first word.
    for (expected, words, signature) in
        [(Some("s"), &["s"][..], "s"), (None, &["s"], "s"), (None, &["su", "x"], "ss")]
    {
        let known = expected.map(|types| [types]);
        let known =
            known.as_ref().map_or(ExpectedTypes::Anything, |types| ExpectedTypes::OneOf(types));
        assert_eq!(decide(words, known, Argument).unwrap().signature, signature, "{words:?}");
    }
}
