//! What a text is compared with.

use std::fmt;

use regex_lite::Regex;

/// What a text is compared with.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The whole text is this.
    Equal(Box<str>),
    /// The whole text has these parts in order, with anything between them: `a*b`. Two parts or
    /// more; an empty one at either end leaves that end open.
    Glob(Vec<Box<str>>),
    /// The text has this in it, whatever the case of ASCII letters, which are lower case here.
    Contains(Box<str>),
    /// An expression finds something in the text.
    Regex(Regex),
}

impl Pattern {
    /// A text in which each `*` stands for anything.
    pub fn glob(text: &str) -> Self {
        match text.contains('*') {
            true => Self::Glob(text.split('*').map(Box::from).collect()),
            false => Self::Equal(text.into()),
        }
    }

    /// A text that others have in them.
    pub fn contains(text: &str) -> Self {
        Self::Contains(text.to_ascii_lowercase().into())
    }

    /// Whether a text is so.
    pub fn selects(&self, text: &str) -> bool {
        match self {
            Self::Equal(wanted) => **wanted == *text,
            Self::Glob(parts) => has_parts(text, parts),
            Self::Contains(wanted) => contains_ignoring_case(text.as_bytes(), wanted.as_bytes()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// As it is written in a query, without quotes.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(text) | Self::Contains(text) => f.write_str(text),
            Self::Glob(parts) => f.write_str(&parts.join("*")),
            Self::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

fn has_parts(text: &str, parts: &[Box<str>]) -> bool {
    let [first, middle @ .., last] = parts else { return false };
    let Some(mut rest) = text.strip_prefix(&**first) else { return false };
    for part in middle {
        let Some(at) = rest.find(&**part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(&**last)
}

fn contains_ignoring_case(text: &[u8], wanted: &[u8]) -> bool {
    let Some(&first) = wanted.first() else { return true };
    let Some(last_start) = text.len().checked_sub(wanted.len()) else { return false };
    (0..=last_start).any(|at| {
        text[at].to_ascii_lowercase() == first
            && text[at..at + wanted.len()].eq_ignore_ascii_case(wanted)
    })
}
