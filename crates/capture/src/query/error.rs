//! Why a text is no query.

use std::fmt;

use wire::match_rule::MatchRuleError;

use super::field::{FIELDS, Field, NumberField};
use super::names::NameMistake;
use crate::text::nearest::{nearest, suggestion};

/// Why a text is no query, and where.
#[derive(Clone, Debug)]
pub struct QueryError {
    /// The column of the text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: QueryErrorKind,
}

/// What can be wrong with a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum QueryErrorKind {
    /// There is a sign behind a word that is no field.
    UnknownField {
        /// The word.
        found: String,
    },
    /// A term must stand here.
    TermMissing,
    /// Behind the sign of this field nothing stands.
    ValueMissing(Field),
    /// Behind this key of match rules and its sign nothing stands.
    RuleValueMissing {
        /// The key.
        key: String,
    },
    /// This key of match rules cannot be compared so.
    OnlyEqual {
        /// The key.
        key: String,
    },
    /// A text has a sign in it, which is probably meant as one.
    SignInText {
        /// The text.
        word: String,
    },
    /// This is not a sign.
    UnknownSign {
        /// What stands in the place of a sign.
        found: String,
    },
    /// A word that is a sign in other languages stands behind the name of a field.
    WordForSign {
        /// The word.
        word: &'static str,
        /// The field.
        field: Field,
        /// A term that says the same here.
        example: &'static str,
    },
    /// No path, member or error has such a name.
    Name(NameMistake),
    /// This field has other values.
    UnknownValue {
        /// Which field.
        field: Field,
        /// What stands there.
        found: String,
    },
    /// The end of a range is before its start.
    RangeReversed {
        /// The range.
        found: String,
    },
    /// This field is no number and cannot be compared so.
    NotComparable(Field),
    /// This field is no text and cannot be searched.
    NotSearchable(Field),
    /// A quote is never closed.
    QuoteOpen,
    /// A parenthesis is never closed.
    ParenthesisOpen,
    /// A parenthesis closes nothing.
    ParenthesisClosesNothing,
    /// Parentheses and negations are deeper than [`DEPTH_MAX`](super::DEPTH_MAX).
    TooDeep,
    /// A match rule is not right.
    Rule(MatchRuleError),
    /// An expression is not right.
    Regex(regex_lite::Error),
}

impl QueryErrorKind {
    pub(super) const fn at(self, column: usize) -> QueryError {
        QueryError { column, kind: self }
    }
}

impl QueryError {
    /// Whether more text behind the query may repair it: while somebody types, that is not a mistake.
    pub fn is_unfinished(&self, text: &str) -> bool {
        is_unfinished(self, text)
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.kind)
    }
}

impl std::error::Error for QueryError {}

impl fmt::Display for QueryErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownField { found } => {
                write!(f, "unknown field {found}")?;
                match likely_fields(found).as_slice() {
                    [] => write!(
                        f,
                        "; the fields are {}. A text with a sign in it is written in quotes",
                        all_fields()
                    ),
                    near => f.write_str(&suggestion(near)),
                }
            }
            Self::TermMissing => f.write_str(
                "expected a term: a word, or a field with a value, as in member:Get* or dur>50ms",
            ),
            Self::ValueMissing(field) => {
                write!(f, "{} has no value; expected {}", field.word(), expected(*field))
            }
            Self::RuleValueMissing { key } => write!(f, "{key} has no value; expected a text"),
            Self::OnlyEqual { key } => {
                write!(f, "{key} is a key of match rules; expected :, = or != behind it")
            }
            Self::SignInText { word } => {
                write!(f, "{word} has a sign in it; in quotes, \"{word}\", it is a text")
            }
            Self::UnknownSign { found } => {
                write!(f, "unknown sign {found}")?;
                match likely_sign(found) {
                    Some(sign) => f.write_str(&suggestion(&[sign]))?,
                    None => f.write_str("; the signs are :, =, !=, ~, !~, <, <=, > and >=.")?,
                }
                f.write_str(" A text that begins with a sign is written in quotes")
            }
            Self::WordForSign { word, field, example } => write!(
                f,
                "{word} is not a sign; expected one behind {}, as in {example}. To search for the \
                 word, write \"{word}\"",
                field.word()
            ),
            Self::Name(mistake) => mistake.fmt(f),
            Self::UnknownValue { field, found } => write_unknown_value(f, *field, found),
            Self::RangeReversed { found } => {
                write!(f, "no number is in the range {found}: its end is before its start")
            }
            Self::NotComparable(field) => {
                write!(f, "{} is not a number; expected :, =, != or ~ behind it", field.word())
            }
            Self::NotSearchable(field) => {
                write!(f, "~ searches texts; expected {}:", field.word())
            }
            Self::QuoteOpen => f.write_str("the quote is not closed"),
            Self::ParenthesisOpen => f.write_str("the parenthesis is not closed"),
            Self::ParenthesisClosesNothing => f.write_str("the parenthesis closes nothing"),
            Self::TooDeep => f.write_str("parentheses and negations are too deep"),
            Self::Rule(error) => write!(f, "not a match rule: {error}"),
            Self::Regex(error) => write!(f, "not a regular expression: {error}"),
        }
    }
}

/// Whether more text behind a query may repair what is wrong with it, as whoever types it is not done yet.
pub(super) fn is_unfinished(error: &QueryError, text: &str) -> bool {
    match &error.kind {
        QueryErrorKind::TermMissing
        | QueryErrorKind::ValueMissing(_)
        | QueryErrorKind::RuleValueMissing { .. } => text.trim_end().chars().count() < error.column,
        QueryErrorKind::QuoteOpen | QueryErrorKind::ParenthesisOpen => true,
        QueryErrorKind::UnknownValue { field, found } => {
            text.ends_with(found.as_str()) && begins_a_value(*field, found)
        }
        _ => false,
    }
}

/// Whether there are values of this field that begin with this text.
fn begins_a_value(field: Field, start: &str) -> bool {
    let start = start.to_ascii_lowercase();
    match field {
        Field::Number(number) => {
            let Some(scale) = number.scale() else { return false };
            let digits = start.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
            let sign = &start[digits.len()..];
            digits.chars().filter(|&c| c != '.').count() > 0
                && scale.signs().any(|unit| unit.to_ascii_lowercase().starts_with(sign))
        }
        field => field.choices().iter().any(|word| word.starts_with(&start)),
    }
}

fn write_unknown_value(f: &mut fmt::Formatter<'_>, field: Field, found: &str) -> fmt::Result {
    match field {
        Field::Number(NumberField::Duration | NumberField::Time) => {
            write!(f, "{found} is not a duration; use for example 50ms")
        }
        Field::Number(NumberField::Size) => {
            write!(f, "{found} is not a size; use for example 512 or 4kB")
        }
        field => {
            let near = nearest(found, field.choices().iter().copied());
            write!(
                f,
                "{found} is not a value of {}; expected {}",
                field.word(),
                expected_such_as(field)
            )?;
            f.write_str(&suggestion(&near))
        }
    }
}

/// The fields that an unknown one may stand for.
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

/// What other tools and people call the fields.
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

/// The sign that is meant by one of another language.
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

fn expected(field: Field) -> String {
    if !field.choices().is_empty() {
        return one_of(field.choices());
    }
    match field {
        Field::Number(number) => {
            number.scale().map_or_else(|| "a whole number".to_owned(), |scale| scale.to_string())
        }
        _ => "a text".to_owned(),
    }
}

/// The same, with an example in place of all units.
fn expected_such_as(field: Field) -> String {
    match field {
        Field::Number(number) => {
            number.scale().map_or_else(|| expected(field), |scale| scale.such_as())
        }
        Field::Argument(_) => "a number".to_owned(),
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
