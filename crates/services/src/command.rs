//! The command line in a service file: split into words as a shell would, without a shell.
//!
//! Quotation marks, backslashes and comments mean what they mean to a shell; nothing is replaced,
//! and there are no operators. Where shells and the reference differ, this is the reference.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A program and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
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

    /// The program first. There may be none at all.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The program, by its path. Nothing is searched for; an empty path is that of no program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Why a command line cannot be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandError {
    /// It ends within quotation marks.
    OpenQuote,
    /// It ends with a backslash.
    OpenEscape,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenQuote => "Unclosed quotes in command line",
            Self::OpenEscape => "A backslash with nothing behind it in command line",
        })
    }
}

impl std::error::Error for CommandError {}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    /// The word that has begun.
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

    /// Everything up to the next mark.
    fn single_quoted(&mut self) -> Result<(), CommandError> {
        self.word();
        loop {
            match self.rest.next().ok_or(CommandError::OpenQuote)? {
                '\'' => return Ok(()),
                other => self.word().push(other),
            }
        }
    }

    /// Everything up to the next mark that has no backslash before it. Other backslashes stay, but
    /// before what a shell would replace.
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

    /// The next character as it is; a line goes on behind its end.
    fn escaped(&mut self) -> Result<(), CommandError> {
        match self.rest.next().ok_or(CommandError::OpenEscape)? {
            '\n' => {}
            other => self.word().push(other),
        }
        Ok(())
    }

    /// Nothing up to the end of the line. What stands for a comment is a word all the same, if it
    /// is not part of one.
    fn comment(&mut self) {
        self.word();
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}
