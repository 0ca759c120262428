//! Errors in the syntax of queries, with hints at what was probably meant.

use wire::match_rule::MatchRuleError;

use super::field::{FIELDS, NumberField, QueryField};
use super::names::NameMistake;
use crate::text::nearest::{nearest, suggestion};

/// The error returned for a malformed query.
#[derive(Clone, Debug, thiserror::Error)]
#[error("column {column}: {kind}")]
pub struct QueryError {
    /// The column of the error in the query, in characters, from 1.
    pub column: usize,
    /// The kind of error at that column.
    pub kind: QueryErrorKind,
}

/// The kinds of errors in queries.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryErrorKind {
    /// A word in front of a sign is not a field.
    #[error("unknown field {found}{}", field_hint(found))]
    UnknownField {
        /// The unknown word before the sign.
        found: String,
    },
    /// A term is missing.
    #[error("expected a term: a word, or a field with a value, as in member:Get* or dur>50ms")]
    TermMissing,
    /// The value after the sign of this field is missing.
    #[error("{} has no value; expected {}", .0.word(), expected(*.0))]
    ValueMissing(QueryField),
    /// The value after this key of match rules is missing.
    #[error("{key} has no value; expected a text")]
    RuleValueMissing {
        /// The key without a value.
        key: String,
    },
    /// This key of match rules supports only equality.
    #[error("{key} is a key of match rules; expected :, = or != after it")]
    OnlyEqual {
        /// The key of match rules.
        key: String,
    },
    /// A text without quotes contains a sign, which was probably meant as an operator.
    #[error("{word} contains an operator; write it in quotes, \"{word}\", to search for this text")]
    SignInText {
        /// The text that contains the sign.
        word: String,
    },
    /// The sign is unknown.
    #[error(
        "unknown operator {found}{} Quote a text that begins with an operator",
        sign_hint(found)
    )]
    UnknownSign {
        /// The text found in place of a sign.
        found: String,
    },
    /// A word that is an operator in other languages follows the name of a field.
    #[error(
        "{word} is not an operator; expected one after {}, as in {example}. To search for the word, write \
         \"{word}\"",
        field.word()
    )]
    WordForSign {
        /// The word that is not a sign.
        word: &'static str,
        /// The field before the word.
        field: QueryField,
        /// A term with the same meaning.
        example: &'static str,
    },
    /// A path, member or error name is invalid.
    #[error("{0}")]
    Name(NameMistake),
    /// The field does not accept this value.
    #[error("{}", unknown_value(*field, found))]
    UnknownValue {
        /// The field with the unknown value.
        field: QueryField,
        /// The text found in place of a value.
        found: String,
    },
    /// The end of a range is before its start.
    #[error("no number is in the range {found}: its end is before its start")]
    RangeReversed {
        /// The range as it was written.
        found: String,
    },
    /// This field is not a number, so its values cannot be ordered.
    #[error("{} is not a number; expected :, =, != or ~ after it", .0.word())]
    NotComparable(QueryField),
    /// This field is not a text, so it cannot be searched.
    #[error("~ searches texts; expected {}:", .0.word())]
    NotSearchable(QueryField),
    /// A quote is not closed.
    #[error("the quote is not closed")]
    QuoteOpen,
    /// A parenthesis is not closed.
    #[error("the parenthesis is not closed")]
    ParenthesisOpen,
    /// A closing parenthesis has no opening one.
    #[error("this closing parenthesis has no opening parenthesis")]
    ParenthesisClosesNothing,
    /// Parentheses and negations are nested more than [`DEPTH_MAX`](super::DEPTH_MAX) levels deep.
    #[error("parentheses and negations are nested too deeply")]
    TooDeep,
    /// A match rule is malformed.
    #[error("not a match rule: {0}")]
    Rule(MatchRuleError),
    /// A regular expression is malformed.
    #[error("not a regular expression: {0}")]
    Regex(regex_lite::Error),
}

impl QueryErrorKind {
    pub(super) const fn at(self, column: usize) -> QueryError {
        QueryError { column, kind: self }
    }
}

impl QueryError {
    /// Returns true if the query may become valid if more text is appended. Editors use this to
    /// show no error while the query is being typed.
    pub fn is_unfinished(&self, text: &str) -> bool {
        match &self.kind {
            QueryErrorKind::TermMissing
            | QueryErrorKind::ValueMissing(_)
            | QueryErrorKind::RuleValueMissing { .. } => {
                text.trim_end().chars().count() < self.column
            }
            QueryErrorKind::QuoteOpen | QueryErrorKind::ParenthesisOpen => true,
            QueryErrorKind::UnknownValue { field, found } => {
                text.ends_with(found.as_str()) && begins_a_value(*field, found)
            }
            _ => false,
        }
    }
}

/// Returns true if a value of this field can begin with this text.
fn begins_a_value(field: QueryField, start: &str) -> bool {
    let start = start.to_ascii_lowercase();
    match field {
        QueryField::Number(number) => {
            let Some(scale) = number.scale() else { return false };
            let digits = start.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
            let sign = &start[digits.len()..];
            digits.chars().filter(|&c| c != '.').count() > 0
                && scale.signs().any(|unit| unit.to_ascii_lowercase().starts_with(sign))
        }
        field => field.choices().iter().any(|word| word.starts_with(&start)),
    }
}

fn unknown_value(field: QueryField, found: &str) -> String {
    match field {
        QueryField::Number(NumberField::Duration | NumberField::Time) => {
            format!("{found} is not a duration; use for example 50ms")
        }
        QueryField::Number(NumberField::Size) => {
            format!("{found} is not a size; use for example 512 or 4kB")
        }
        field => format!(
            "{found} is not a value of {}; expected {}{}",
            field.word(),
            expected_such_as(field),
            suggestion(&nearest(found, field.choices().iter().copied()))
        ),
    }
}

/// The end of the message about an unknown field: similar fields, or all fields if none is similar.
fn field_hint(found: &str) -> String {
    match likely_fields(found).as_slice() {
        [] => format!("; the fields are {}. Quote a text that contains an operator", all_fields()),
        near => suggestion(near),
    }
}

/// The end of the message about an unknown operator: the equivalent sign, or all signs if there is
/// none.
fn sign_hint(found: &str) -> String {
    match likely_sign(found) {
        Some(sign) => suggestion(&[sign]),
        None => "; the signs are :, =, !=, ~, !~, <, <=, > and >=.".to_owned(),
    }
}

/// The known fields that an unknown one may stand for.
fn likely_fields(found: &str) -> Vec<&'static str> {
    let found = found.to_ascii_lowercase();
    let word = found.rsplit('.').next().unwrap_or_default();
    if let Some(entry) = FIELDS.iter().find(|entry| entry.words.contains(&word)) {
        return vec![entry.words[0]];
    }
    match FOREIGN_FIELDS.iter().find(|(words, _)| words.contains(&word)) {
        Some((_, field)) => vec![field],
        None => nearest(word, FIELDS.iter().flat_map(|entry| entry.words).copied()),
    }
}

/// Names that other tools use for the fields.
const FOREIGN_FIELDS: &[(&[&str], &str)] = &[
    (&["method", "signal", "function"], "member"),
    (&["object", "object_path", "objectpath", "obj"], "path"),
    (&["src", "source", "client", "caller"], "from"),
    (&["dst", "dest", "target", "recipient", "callee"], "to"),
    (&["service", "bus_name", "busname", "connection", "conn", "peer"], "name"),
    (&["latency", "delay", "took", "elapsed", "wait", "waited"], "dur"),
    (&["len", "length", "bytes"], "size"),
    (&["error_name", "errorname"], "error"),
    (&["process"], "pid"),
    (&["exe", "cmd", "command", "cmdline"], "comm"),
    (&["status", "state", "outcome"], "is"),
    (&["body", "args", "argument", "arguments", "text"], "arg"),
    (&["at", "timestamp", "when"], "time"),
    (&["no", "nr", "index", "frame", "id"], "number"),
    (&["kind", "message_type", "msgtype"], "type"),
    (&["cookie"], "serial"),
];

/// The equivalent of a sign from another query language.
fn likely_sign(found: &str) -> Option<&'static str> {
    Some(match found {
        "<>" | "!==" | "><" => "!=",
        "=~" | "~=" | ":~" | "~~" | "==~" => "~",
        "!=~" | "!~=" => "!~",
        "===" | ":=" | ":==" => "=",
        "=>" | ">==" => ">=",
        "=<" | "<==" => "<=",
        ":>" | ">>" => ">",
        ":<" | "<<" => "<",
        ":>=" => ">=",
        ":<=" => "<=",
        _ => return None,
    })
}

fn all_fields() -> String {
    let words: Vec<_> = FIELDS.iter().map(|entry| entry.words[0]).collect();
    format!("{}, arg0 to arg63", words.join(", "))
}

fn expected(field: QueryField) -> String {
    if !field.choices().is_empty() {
        return one_of(field.choices());
    }
    match field {
        QueryField::Number(number) => {
            number.scale().map_or_else(|| "a whole number".to_owned(), |scale| scale.to_string())
        }
        _ => "a text".to_owned(),
    }
}

/// Like [`expected`], but with an example instead of all units.
fn expected_such_as(field: QueryField) -> String {
    match field {
        QueryField::Number(number) => {
            number.scale().map_or_else(|| expected(field), |scale| scale.such_as())
        }
        QueryField::Argument(_) => "a number".to_owned(),
        field => expected(field),
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
