//! The syntax of desktop entries, as the reference implementation parses it.
//!
//! ```text
//! # comment
//! [Group]
//! Key=value
//! Key[locale]=value for users of this locale
//! ```
//!
//! An error anywhere makes the whole file invalid, even in groups that are not used.

use std::fmt;

/// The groups of a file, with their keys and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DesktopFile {
    groups: Vec<Group>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    name: String,
    /// The values that apply to all locales.
    values: Vec<(String, String)>,
}

impl DesktopFile {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// The first error in the file.
    pub fn parse(bytes: &[u8]) -> Result<Self, SyntaxError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line = lines(&String::from_utf8_lossy(valid)).count();
            SyntaxError { line: line.max(1), kind: SyntaxErrorKind::NotUtf8 }
        })?;
        let mut file = Self::default();
        for (index, line) in lines(text).enumerate() {
            file.line(line).map_err(|kind| SyntaxError { line: index + 1, kind })?;
        }
        Ok(file)
    }

    /// The value of a key: the first one with this name, in the first group with this name.
    #[must_use]
    pub fn get(&self, group: &str, key: &str) -> Option<&str> {
        let group = self.groups.iter().find(|found| found.name == group)?;
        let value = group.values.iter().find(|(found, _)| found == key);
        value.map(|(_, value)| value.as_str())
    }

    fn line(&mut self, line: &str) -> Result<(), SyntaxErrorKind> {
        if line.contains('\0') {
            return Err(SyntaxErrorKind::Nul);
        }
        if line.starts_with('#') || line.trim_matches([' ', '\t']).is_empty() {
            return Ok(());
        }
        match line.strip_prefix('[') {
            Some(rest) => {
                let name = group_name(rest)?;
                self.groups.push(Group { name: name.to_owned(), values: Vec::new() });
                Ok(())
            }
            None => self.entry(line),
        }
    }

    fn entry(&mut self, line: &str) -> Result<(), SyntaxErrorKind> {
        let group = self.groups.last_mut().ok_or(SyntaxErrorKind::BeforeGroup)?;
        let (key, value) = line.split_once('=').ok_or(SyntaxErrorKind::NoEqualsSign)?;
        let (key, locale) = match key.split_once('[') {
            Some((key, locale)) => (key, Some(locale)),
            None => (key.trim_end_matches(' '), None),
        };
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(SyntaxErrorKind::Key);
        }
        let value = unescape(value.trim_start_matches(' '))?;
        if locale.is_none() {
            group.values.push((key.to_owned(), value));
        }
        Ok(())
    }
}

/// A line ends with a line feed, a carriage return, or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else { return rest.take() };
        let (line, end) = text.split_at(end);
        rest = Some(end.strip_prefix("\r\n").unwrap_or(&end[1..]));
        Some(line)
    })
}

/// The name of a group, between brackets; no text may follow them.
fn group_name(rest: &str) -> Result<&str, SyntaxErrorKind> {
    let name = rest.strip_suffix(']').ok_or(SyntaxErrorKind::GroupEnd)?;
    let is_wrong = |c: char| c == '[' || c == ']' || c.is_control();
    if name.is_empty() || name.contains(is_wrong) {
        Err(SyntaxErrorKind::GroupName)
    } else {
        Ok(name)
    }
}

fn unescape(text: &str) -> Result<String, SyntaxErrorKind> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '\\' => match characters.next() {
                Some('s') => ' ',
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('\\') => '\\',
                _ => return Err(SyntaxErrorKind::Escape),
            },
            other => other,
        });
    }
    Ok(value)
}

/// An error in a file, and its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The number of the line; the first one is 1.
    pub line: usize,
    /// The kind of the error.
    pub kind: SyntaxErrorKind,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

impl std::error::Error for SyntaxError {}

/// The ways in which a line can be invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyntaxErrorKind {
    /// The line is not UTF-8.
    NotUtf8,
    /// The line contains a zero byte.
    Nul,
    /// A key is before the first group.
    BeforeGroup,
    /// The line is not a comment, a group or a key with a value.
    NoEqualsSign,
    /// The text before the `=` is not a valid key.
    Key,
    /// A group has no `]` at the end of the line.
    GroupEnd,
    /// The name of a group is empty, or contains a bracket or a control character.
    GroupName,
    /// A backslash is followed by a character without a meaning.
    Escape,
}

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "it is not UTF-8",
            Self::Nul => "there is a zero byte in it",
            Self::BeforeGroup => "a key precedes the first group",
            Self::NoEqualsSign => "expected a comment, a group or a key with \"=\"",
            Self::Key => {
                "the key is invalid: expected letters, digits and \"-\", without a space before it"
            }
            Self::GroupEnd => "text follows the \"]\" of a group",
            Self::GroupName => "the name of a group is empty, or has brackets in it",
            Self::Escape => "unknown escape: expected s, t, n, r or \\ after the backslash",
        })
    }
}
