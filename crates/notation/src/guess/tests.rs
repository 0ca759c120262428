use diligence_testkit::forms::{FORMS, Form};

use super::*;

fn read_words(words: &[&str], reading: &Reading) -> Vec<Value> {
    read(reading, words, &mut pretend).expect("it was decided so")
}

#[test]
fn every_type_is_read_the_same_from_every_form() {
    for &Form { types, busctl, gvariant, dbus_send, json } in FORMS {
        let behind: Vec<_> = [types].into_iter().chain(busctl.iter().copied()).collect();
        let wanted = Wanted::OneOf(&[types]);
        let decided = decide(&behind, wanted).unwrap();
        assert_eq!(decided.forms, [Syntax::Busctl], "{behind:?}");
        let expected = read_words(&behind, &decided);
        for (word, syntax) in
            [(gvariant, Syntax::Gvariant), (dbus_send, Syntax::DbusSend), (json, Syntax::Json)]
        {
            let forced = decide_forced(&[word], wanted, syntax).unwrap_or_else(|error| {
                panic!("{word:?} as {syntax} for {types:?}: {error}");
            });
            assert_eq!(read_words(&[word], &forced), expected, "{word:?} as {syntax}");
            let guessed = decide(&[word], wanted).unwrap_or_else(|error| {
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
        // The word is the signature, or the text itself.
        (Some("s"), &["s", "text"][..], "s", &[Busctl][..]),
        (Some("s"), &["s"], "s", &[Gvariant]),
        (Some("ss"), &["ss", "a"], "ss", &[Gvariant, Gvariant]),
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
        let wanted = wanted_types.as_ref().map_or(Wanted::Anything, |types| Wanted::OneOf(types));
        let reading = decide(words, wanted).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        assert_eq!(reading.signature, signature, "{words:?}");
        match words.is_empty() {
            true => assert_eq!(read_words(words, &reading), []),
            false => assert_eq!(reading.forms, forms, "{words:?}"),
        }
    }
}

#[test]
fn of_several_forms_of_a_method_the_one_that_fits_is_taken() {
    let wanted = Wanted::OneOf(&["u", "s", "ss"]);
    for (words, signature) in [(&["7"][..], "u"), (&["text"], "s"), (&["a", "b"], "ss")] {
        assert_eq!(decide(words, wanted).unwrap().signature, signature, "{words:?}");
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
        ("su", &["a"], &["\"su\" asks for 2 arguments, and there is 1"]),
        ("as", &["one"], &["argument 1 must be a list (as)", "example is ['text']"]),
    ] {
        let error = decide(words, Wanted::OneOf(&[wanted])).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "no {part:?} in {error:?}");
        }
    }
    let wrong = decide_forced(&["int32:1"], Wanted::OneOf(&["s"]), Syntax::DbusSend).unwrap_err();
    assert!(wrong.to_string().contains("which is of type i"), "{wrong}");
}
