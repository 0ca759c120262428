//! The command line in a service file: split into words like a shell does, without running a shell.
//!
//! Quotation marks, backslashes and comments have the meaning that they have in a shell; there are
//! no expansions and no operators. Where shells and the reference implementation differ, this
//! follows the reference implementation.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A program and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Command {
    words: Vec<String>,
}

impl Command {
    /// Splits a command line.
    ///
    /// ```
    /// use services::Command;
    ///
    /// let command = Command::split(r#"/bin/echo 'a b' "c"\ d # no more"#)?;
    /// assert_eq!(command.words(), ["/bin/echo", "a b", "c d", ""]);
    /// # Ok::<(), services::CommandError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// See [`CommandError`].
    pub fn split(line: &str) -> Result<Self, CommandError> {
        let mut splitter =
            Splitter { rest: line.chars().peekable(), word: None, words: Vec::new() };
        splitter.run()?;
        Ok(Self { words: splitter.words })
    }

    /// The program and its arguments; it can be empty.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The path of the program, which is not searched in `PATH`; empty if there is no program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// The reason why a command line cannot be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CommandError {
    /// The line ends inside quotation marks.
    OpenQuote,
    /// The line ends with a backslash.
    OpenEscape,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenQuote => "Unclosed quotes in command line",
            Self::OpenEscape => "The command line ends with a backslash",
        })
    }
}

impl std::error::Error for CommandError {}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    /// The word that is being read.
    word: Option<String>,
    words: Vec<String>,
}

impl Splitter<'_> {
    fn run(&mut self) -> Result<(), CommandError> {
        while let Some(character) = self.rest.next() {
            match character {
                ' ' | '\t' | '\n' => self.words.extend(self.word.take()),
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => self.escaped()?,
                '#' => self.comment(),
                other => self.word().push(other),
            }
        }
        self.words.extend(self.word.take());
        Ok(())
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    /// Reads up to the next single quotation mark.
    fn single_quoted(&mut self) -> Result<(), CommandError> {
        self.word();
        loop {
            match self.rest.next().ok_or(CommandError::OpenQuote)? {
                '\'' => return Ok(()),
                other => self.word().push(other),
            }
        }
    }

    /// Reads up to the next double quotation mark without a backslash before it. A backslash stays,
    /// unless it is before a character that a shell would expand.
    fn double_quoted(&mut self) -> Result<(), CommandError> {
        self.word();
        loop {
            let character = match self.rest.next().ok_or(CommandError::OpenQuote)? {
                '"' => return Ok(()),
                '\\' => self.rest.next_if(|next| "\"\\`$\n".contains(*next)).unwrap_or('\\'),
                other => other,
            };
            self.word().push(character);
        }
    }

    /// Reads the next character literally; an escaped end of line continues the line.
    fn escaped(&mut self) -> Result<(), CommandError> {
        match self.rest.next().ok_or(CommandError::OpenEscape)? {
            '\n' => {}
            other => self.word().push(other),
        }
        Ok(())
    }

    /// Skips the rest of the line. A comment that does not follow a word counts as an empty word.
    fn comment(&mut self) {
        self.word();
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}
