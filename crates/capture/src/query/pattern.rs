//! Patterns that texts are compared with.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use regex_lite::Regex;

/// A pattern that a text is compared with.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The text equals this one.
    Equal(Box<str>),
    /// The text has these parts in order, with any text between them: `a*b`. At least two parts; an
    /// empty first or last part leaves that end open.
    Glob(Vec<Box<str>>),
    /// The text contains this one, ignoring the case of ASCII letters. It is stored in lower case.
    Contains(Box<str>),
    /// The regular expression matches a part of the text.
    Regex(RegexPattern),
}

impl Pattern {
    /// Creates a pattern in which each `*` matches any text.
    pub fn glob(text: &str) -> Self {
        match text.contains('*') {
            true => Self::Glob(text.split('*').map(Box::from).collect()),
            false => Self::Equal(text.into()),
        }
    }

    /// Creates a pattern that matches texts that contain this one.
    pub fn contains(text: &str) -> Self {
        Self::Contains(text.to_ascii_lowercase().into())
    }

    /// Returns true if the pattern matches a text.
    pub fn selects(&self, text: &str) -> bool {
        match self {
            Self::Equal(wanted) => **wanted == *text,
            Self::Glob(parts) => has_parts(text, parts),
            Self::Contains(wanted) => contains_ignoring_case(text.as_bytes(), wanted.as_bytes()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// A regular expression that remembers its results for recent texts: most texts of a recording occur
/// many times, and a lookup takes a fiftieth of the time of an evaluation.
#[derive(Debug)]
pub struct RegexPattern {
    regex: Regex,
    known: Mutex<HashMap<Box<str>, bool, RandomState>>,
}

impl RegexPattern {
    /// Compiles a regular expression.
    ///
    /// # Errors
    ///
    /// If the syntax is invalid, or the expression is too large.
    pub fn new(text: &str) -> Result<Self, regex_lite::Error> {
        Ok(Self::from(Regex::new(text)?))
    }

    /// Returns true if the regular expression matches a part of the text.
    pub fn is_match(&self, text: &str) -> bool {
        if text.len() > KNOWN_LEN_MAX {
            return self.regex.is_match(text);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_match) = known.get(text) {
            return is_match;
        }
        if known.len() == KNOWN_MAX {
            known.clear();
        }
        let is_match = self.regex.is_match(text);
        known.insert(text.into(), is_match);
        is_match
    }
}

impl From<Regex> for RegexPattern {
    fn from(regex: Regex) -> Self {
        Self { regex, known: Mutex::default() }
    }
}

/// A clone has its own results, so that threads do not wait for each other.
impl Clone for RegexPattern {
    fn clone(&self) -> Self {
        self.regex.clone().into()
    }
}

/// The number of texts whose results are remembered.
const KNOWN_MAX: usize = 1 << 15;

/// The maximum length in bytes of a text whose result is remembered.
const KNOWN_LEN_MAX: usize = 256;

/// Writes the pattern as in a query, without quotes.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(text) | Self::Contains(text) => f.write_str(text),
            Self::Glob(parts) => f.write_str(&parts.join("*")),
            Self::Regex(pattern) => write!(f, "/{}/", pattern.regex),
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
