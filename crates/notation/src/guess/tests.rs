use testkit::forms::{FORMS, ValueForm};

use super::FirstWord::{Argument, SignatureOrArgument};
use super::*;

fn read_words(words: &[&str], reading: &ArgumentReading) -> Vec<Value> {
    read(reading, words, &mut pretend).expect("it was decided so")
}

#[test]
fn every_type_is_read_the_same_from_every_form() {
    for &ValueForm { types, busctl, gvariant, dbus_send, json } in FORMS {
        let behind: Vec<_> = [types].into_iter().chain(busctl.iter().copied()).collect();
        let wanted = WantedTypes::OneOf(&[types]);
        let decided = decide(&behind, wanted, SignatureOrArgument).unwrap();
        assert_eq!(decided.forms, [Syntax::Busctl], "{behind:?}");
        let expected = read_words(&behind, &decided);
        for (word, syntax) in
            [(gvariant, Syntax::Gvariant), (dbus_send, Syntax::DbusSend), (json, Syntax::Json)]
        {
            let forced = decide_forced(&[word], wanted, syntax).unwrap_or_else(|error| {
                panic!("{word:?} as {syntax} for {types:?}: {error}");
            });
            assert_eq!(read_words(&[word], &forced), expected, "{word:?} as {syntax}");
            let guessed = decide(&[word], wanted, SignatureOrArgument).unwrap_or_else(|error| {
                panic!("{word:?} for {types:?}: {error}");
            });
            assert_eq!(read_words(&[word], &guessed), expected, "{word:?} guessed");
        }
    }
}

#[test]
fn what_is_meant_is_guessed() {
    use Syntax::{Busctl, DbusSend, Gvariant, Json};
    for (wanted, words, signature, forms) in [
        // The word is the signature, or in quotes the text itself.
        (Some("s"), &["s", "text"][..], "s", &[Busctl][..]),
        (Some("s"), &["\"s\""], "s", &[Gvariant]),
        (Some("s"), &["'s'"], "s", &[Gvariant]),
        (Some("s"), &["u"], "s", &[Gvariant]),
        (Some("ss"), &["\"ss\"", "a"], "ss", &[Gvariant, Gvariant]),
        (None, &["\"s\""], "s", &[Gvariant]),
        (Some(""), &[], "", &[]),
        (Some("ai"), &["ai", "0"], "ai", &[Busctl]),
        // Types in front only where they are those that are wanted.
        (Some("s"), &["string:text"], "s", &[DbusSend]),
        (Some("s"), &["int32:7"], "s", &[Gvariant]),
        (Some("su"), &["string:a", "uint32:1"], "su", &[DbusSend, DbusSend]),
        (Some("sa{sv}"), &["a", r#"{"b":{"type":"y","data":7}}"#], "sa{sv}", &[Gvariant, Json]),
        (Some("v"), &["7"], "v", &[Gvariant]),
        (Some("b"), &["yes"], "b", &[Gvariant]),
        // Nothing is known.
        (None, &["as", "1", "a"], "as", &[Busctl]),
        (None, &["string:a", "array:int32:1"], "sai", &[DbusSend, DbusSend]),
        (None, &["7", "true"], "ib", &[Gvariant, Gvariant]),
        (None, &["plain text"], "s", &[Gvariant]),
    ] {
        let wanted_types = wanted.map(|types| [types]);
        let wanted =
            wanted_types.as_ref().map_or(WantedTypes::Anything, |types| WantedTypes::OneOf(types));
        let reading = decide(words, wanted, SignatureOrArgument)
            .unwrap_or_else(|error| panic!("{words:?}: {error}"));
        assert_eq!(reading.signature, signature, "{words:?}");
        match words.is_empty() {
            true => assert_eq!(read_words(words, &reading), []),
            false => assert_eq!(reading.forms, forms, "{words:?}"),
        }
    }
}

#[test]
fn of_several_forms_of_a_method_the_one_that_fits_is_taken() {
    let wanted = WantedTypes::OneOf(&["u", "s", "ss"]);
    for (words, signature) in
        [(&["7"][..], "u"), (&["text"], "s"), (&["a", "b"], "ss"), (&["ss", "a", "b"], "ss")]
    {
        let reading = decide(words, wanted, SignatureOrArgument).unwrap();
        assert_eq!(reading.signature, signature, "{words:?}");
    }
    for word in ["u", "s", "ss"] {
        let error = decide(&[word], wanted, SignatureOrArgument).unwrap_err().to_string();
        assert!(error.contains(&format!("too few arguments for signature \"{word}\"")), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_told_in_the_form_that_was_meant() {
    for (wanted, words, parts) in [
        (
            "u",
            &["-1"][..],
            &["argument 1 ", "from 0 to 4294967295 (u)", "is -1", "example is 7"][..],
        ),
        ("su", &["su", "a", "x", "y"], &["argument 2", "and is x", "an example is 7"]),
        ("su", &["a"], &["too few arguments for signature \"su\": expected 2, got 1"]),
        ("as", &["one"], &["argument 1 must be a list (as)", "example is ['text']"]),
    ] {
        let wanted = WantedTypes::OneOf(&[wanted]);
        let error = decide(words, wanted, SignatureOrArgument).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "no {part:?} in {error:?}");
        }
    }
    let wrong =
        decide_forced(&["int32:1"], WantedTypes::OneOf(&["s"]), Syntax::DbusSend).unwrap_err();
    assert!(wrong.to_string().contains("which is of type i"), "{wrong}");
}

#[test]
fn a_first_word_that_looks_like_a_signature_is_never_sent_as_a_text() {
    for (wanted, words, error) in [
        // The argument was forgotten, or the variable of a script is empty.
        (Some("s"), &["s"][..], "too few arguments for signature \"s\": expected 1, got 0"),
        (Some("ss"), &["ss", "a"], "too few arguments for signature \"ss\": expected 2, got 1"),
        (Some("as"), &["as"], "too few arguments for signature \"as\": expected 1, got 0"),
        (Some("as"), &["as", "2", "a"], "argument 1, element 2 must be a text (s), and is missing"),
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
        let known = wanted.map(|types| [types]);
        let known = known.as_ref().map_or(WantedTypes::Anything, |types| WantedTypes::OneOf(types));
        let found = decide(words, known, SignatureOrArgument).unwrap_err().to_string();
        assert!(found.starts_with(error), "{words:?}: {found}");
        // Known types say what is wrong; otherwise another reading is possible.
        let hint = format!("write it in quotes: '\"{}\"'", words[0]);
        assert_eq!(
            found.ends_with(&hint),
            found.contains("too few") || wanted.is_none(),
            "{found}"
        );
        if found.ends_with(&hint) {
            let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let quoted: Vec<_> = quoted.iter().map(String::as_str).collect();
            assert!(
                decide(&quoted, WantedTypes::Anything, SignatureOrArgument).is_ok(),
                "{quoted:?}"
            );
        }
    }
    // gdbus has no signature in front.
    for (wanted, words, signature) in
        [(Some("s"), &["s"][..], "s"), (None, &["s"], "s"), (None, &["su", "x"], "ss")]
    {
        let known = wanted.map(|types| [types]);
        let known = known.as_ref().map_or(WantedTypes::Anything, |types| WantedTypes::OneOf(types));
        assert_eq!(decide(words, known, Argument).unwrap().signature, signature, "{words:?}");
    }
}
