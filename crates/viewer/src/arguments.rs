//! Conversion between the arguments of a call and the GVariant text that the user types on the
//! page.

use analyst::value_type::TypeTable;
use inspector::json::{self, Json, TypedValue};
use notation::{ArgumentError, MismatchReason, gvariant};
use serde::Serialize;

/// The result of parsing a text.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReadText {
    /// The arguments in the text.
    Arguments(Vec<Json>),
    /// The text does not contain arguments of the expected types.
    Problem {
        /// Describes what was expected.
        sentence: String,
        /// The position of the error in the text, in characters from 1; `None` if the error
        /// concerns the text as a whole.
        column: Option<usize>,
    },
}

/// Parses arguments of the types `signature`, such as `'text', {'hint': <7>}`, with or without
/// parentheses around them. Adds the types of all values in them to `types`.
pub(crate) fn read(signature: &str, text: &str, types: &mut TypeTable) -> ReadText {
    let no_descriptor = &mut |_: &str| Err(NO_DESCRIPTOR.to_owned());
    match gvariant::read_list(signature, text, no_descriptor) {
        Ok(values) => {
            values.iter().for_each(|value| types.add_value(value));
            ReadText::Arguments(values.into_iter().map(|value| data(&TypedValue(value))).collect())
        }
        Err(error) => {
            ReadText::Problem { sentence: problem_sentence(&error), column: error.column() }
        }
    }
}

/// Writes arguments as a text that [`read`] can parse.
///
/// # Errors
///
/// If the arguments do not have the types `signature`.
pub(crate) fn write(signature: &str, arguments: &[Json]) -> Result<String, ArgumentError> {
    let values = json::read_arguments(signature, arguments)?;
    Ok(values.iter().map(gvariant::value).collect::<Vec<_>>().join(", "))
}

fn data(value: &TypedValue) -> Json {
    let mut typed = serde_json::to_value(value).expect("a value is JSON");
    typed["data"].take()
}

/// Describes the error. The page shows the text and the column itself, so the sentence repeats
/// neither.
fn problem_sentence(error: &ArgumentError) -> String {
    let ArgumentError::Mismatch { mismatch, .. } = error else { return error.to_string() };
    match &mismatch.reason {
        MismatchReason::Syntax { expected, .. } => format!("expected {expected}"),
        MismatchReason::Unopened(why) => why.to_string(),
        _ => format!(
            "must be {} ({}), such as {}",
            mismatch.expected, mismatch.types, mismatch.example
        ),
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
            let read = read_text(signature, text);
            let ReadText::Arguments(arguments) = read else {
                panic!("{text} is not read as {signature}: {read:?}");
            };
            assert_eq!(Json::from(arguments), expected, "{text}");
        }
    }

    fn read_text(signature: &str, text: &str) -> ReadText {
        read(signature, text, &mut TypeTable::default())
    }

    #[test]
    fn written_arguments_are_read_back_unchanged() {
        for (signature, text) in [
            ("", ""),
            ("s", r#""it's""#),
            ("su", "'one', uint32 7"),
            ("a{sv}x", "{'a': <byte 0x07>}, int64 9"),
            ("(sd)as", "('a', 1.0), @as []"),
        ] {
            let ReadText::Arguments(arguments) = read_text(signature, text) else {
                panic!("{text} is not read as {signature}");
            };
            assert_eq!(write(signature, &arguments).as_deref(), Ok(text));
        }
        write("u", &[json!("text")]).expect_err("a text is not a number");
    }

    #[test]
    fn problems_have_the_column_of_the_error() {
        for (signature, text, expected, place) in [
            ("su", "'one', 'two'", "expected a number", Some(8)),
            ("su", "('one', 'two')", "expected a number", Some(9)),
            ("su", "'one' 7", "expected a comma, or the end", Some(7)),
            ("su", "'one', ", "expected a value", Some(8)),
            ("su", "'one'", "too few arguments for signature \"su\": expected 2, got 1", None),
            ("as", "['one', 2]", "expected a string in quotes", Some(9)),
            ("s", "one", "expected a value (strings need quotes)", Some(1)),
            ("y", "300", "must be a whole number from 0 to 255 (y), such as 0x07", Some(1)),
            ("so", "'a', 'b'", "must be an object path (o), such as '/org/example'", Some(6)),
            ("h", "0", NO_DESCRIPTOR, Some(1)),
        ] {
            let ReadText::Problem { sentence, column } = read_text(signature, text) else {
                panic!("{text} is read as {signature}");
            };
            assert_eq!((sentence.as_str(), column), (expected, place), "{text}");
        }
    }
}
