//! Arguments of a call that somebody types as one text of GVariant.

use inspector::json::{Json, TypedValue};
use notation::{ArgumentError, Reason, gvariant};
use serde::Serialize;

/// What a text says.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Typed {
    /// The data of each argument.
    Arguments(Vec<Json>),
    /// The text is not these arguments.
    Problem {
        /// What should be there instead.
        sentence: String,
        /// At which character of the text, from 1; `None` if it is not about one place.
        column: Option<usize>,
    },
}

/// Reads arguments of the types `signature`: `'text', {'hint': <7>}`, with or without parentheses around.
pub(crate) fn read(signature: &str, text: &str) -> Typed {
    let no_descriptor = &mut |_: &str| Err(NO_DESCRIPTOR.to_owned());
    match gvariant::read_list(signature, text, no_descriptor) {
        Ok(values) => {
            let data = |value| data(&TypedValue(value));
            Typed::Arguments(values.into_iter().map(data).collect())
        }
        Err(error) => Typed::Problem { sentence: sentence(&error), column: error.column() },
    }
}

fn data(value: &TypedValue) -> Json {
    let mut typed = serde_json::to_value(value).expect("a value is JSON");
    typed["data"].take()
}

/// What is wrong. The page shows the text with the place, so the sentence does not repeat them.
fn sentence(error: &ArgumentError) -> String {
    let ArgumentError::Misfit { misfit, .. } = error else { return error.to_string() };
    match &misfit.reason {
        Reason::Syntax { expected, .. } => format!("expected {expected}"),
        Reason::Unopened(why) => why.to_string(),
        _ => format!("must be {} ({}), such as {}", misfit.expected, misfit.types, misfit.example),
    }
}

const NO_DESCRIPTOR: &str = "a page cannot send file descriptors";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_with_and_without_parentheses() {
        for (signature, text, expected) in [
            ("", "", json!([])),
            ("", "()", json!([])),
            ("s", "'one'", json!(["one"])),
            ("s", "('one',)", json!(["one"])),
            ("su", " 'one' , 7 ", json!(["one", 7])),
            ("su", "('one', 7)", json!(["one", 7])),
            ("(su)", "('one', 7)", json!([["one", 7]])),
            ("(su)", "(('one', 7),)", json!([["one", 7]])),
            ("a{sv}x", "{'a': <byte 7>}, 9", json!([[["a", { "type": "y", "data": 7 }]], "9"])),
            ("ay", "b'ab'", json!([[97, 98, 0]])),
        ] {
            let Typed::Arguments(arguments) = read(signature, text) else {
                panic!("{text} is not read as {signature}: {:?}", read(signature, text));
            };
            assert_eq!(Json::from(arguments), expected, "{text}");
        }
    }

    #[test]
    fn a_problem_has_its_place() {
        for (signature, text, expected, place) in [
            ("su", "'one', 'two'", "expected a number", Some(8)),
            ("su", "('one', 'two')", "expected a number", Some(9)),
            ("su", "'one' 7", "expected a comma, or the end", Some(7)),
            ("su", "'one', ", "expected a value", Some(8)),
            ("su", "'one'", "too few arguments for signature \"su\": expected 2, got 1", None),
            ("as", "['one', 2]", "expected a text in quotes", Some(9)),
            ("s", "one", "expected a value (texts have quotes)", Some(1)),
            ("y", "300", "must be a whole number from 0 to 255 (y), such as 0x07", Some(1)),
            ("so", "'a', 'b'", "must be an object path (o), such as '/org/example'", Some(6)),
            ("h", "0", NO_DESCRIPTOR, Some(1)),
        ] {
            let Typed::Problem { sentence, column } = read(signature, text) else {
                panic!("{text} is read as {signature}");
            };
            assert_eq!((sentence.as_str(), column), (expected, place), "{text}");
        }
    }
}
