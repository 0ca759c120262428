//! The syntax of desktop entries, as the reference reads it.
//!
//! ```text
//! # comment
//! [Group]
//! Key=value
//! Key[locale]=value for those who speak it
//! ```
//!
//! A mistake anywhere makes the whole file unusable, in groups too that nobody asks for.

use std::fmt;

/// Groups of keys and values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DesktopFile {
    groups: Vec<Group>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    name: String,
    /// Those for all locales.
    values: Vec<(String, String)>,
}

impl DesktopFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The first mistake in it.
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

    /// The value of a key: that of the first of its name, in the first group of its name.
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

/// What stands between the brackets; behind them there may be nothing.
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

/// A mistake in a file, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The line, the first of which is 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: SyntaxErrorKind,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

impl std::error::Error for SyntaxError {}

/// What can be wrong with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyntaxErrorKind {
    /// It is not UTF-8.
    NotUtf8,
    /// There is a zero byte in it.
    Nul,
    /// It is a key, and there is no group yet that it could belong to.
    BeforeGroup,
    /// It is neither a comment nor a group nor a key with a value.
    NoEqualsSign,
    /// What stands before the `=` is no key.
    Key,
    /// A group has no `]` at the end of the line.
    GroupEnd,
    /// The name of a group is empty, or has a bracket or a control character in it.
    GroupName,
    /// A backslash is followed by something that means nothing.
    Escape,
}

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "it is not UTF-8",
            Self::Nul => "there is a zero byte in it",
            Self::BeforeGroup => "a key stands before the first group",
            Self::NoEqualsSign => "it has no \"=\", and is no group or comment either",
            Self::Key => "a key is made of letters, digits and \"-\", and nothing stands before it",
            Self::GroupEnd => "a group ends with \"]\", and nothing stands behind it",
            Self::GroupName => "the name of a group is empty, or has brackets in it",
            Self::Escape => "after a backslash comes one of s, t, n, r and \\",
        })
    }
}
