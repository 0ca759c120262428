//! The width and colors of output.

use std::fmt::Display;

/// The width and colors of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// The width of a line in cells.
    pub width: usize,
    /// The use of colors in the output.
    pub colors: Colors,
}

/// The use of colors in the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colors {
    /// The output is a terminal.
    Wanted,
    /// The output is read by a program, or the user turned colors off.
    Unwanted,
}

impl Style {
    /// Creates a style without colors.
    pub const fn plain(width: usize) -> Self {
        Self { width, colors: Colors::Unwanted }
    }

    /// Highlights a text with color.
    pub fn strong(self, text: impl Display) -> String {
        self.wrap("1", text)
    }

    /// Makes a text less prominent.
    pub fn pale(self, text: impl Display) -> String {
        self.wrap("2", text)
    }

    /// Distinguishes a text from its neighbors by color.
    pub fn accent(self, text: impl Display) -> String {
        self.wrap("36", text)
    }

    /// Marks a text as a possible problem.
    pub fn warning(self, text: impl Display) -> String {
        self.wrap("33", text)
    }

    /// Marks a text as a problem.
    pub fn alarm(self, text: impl Display) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: impl Display) -> String {
        match self.colors {
            Colors::Wanted => match text.to_string() {
                empty if empty.is_empty() => empty,
                text => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            },
            Colors::Unwanted => text.to_string(),
        }
    }
}
