//! How a text may look where it is shown.

use std::fmt::Display;

/// How a text may look where it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Cells of a line.
    pub width: usize,
    /// Whether there may be colours.
    pub colours: Colours,
}

/// Whether a text may have colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// It is for a terminal.
    Wanted,
    /// It is for a program, or somebody does not want any.
    Unwanted,
}

impl Style {
    /// A text without colours.
    pub const fn plain(width: usize) -> Self {
        Self { width, colours: Colours::Unwanted }
    }

    /// What stands out.
    pub fn strong(self, text: impl Display) -> String {
        self.wrap("1", text)
    }

    /// What stands back.
    pub fn pale(self, text: impl Display) -> String {
        self.wrap("2", text)
    }

    /// A kind of thing that differs from its neighbors.
    pub fn accent(self, text: impl Display) -> String {
        self.wrap("36", text)
    }

    /// What may be bad.
    pub fn warning(self, text: impl Display) -> String {
        self.wrap("33", text)
    }

    /// Bad news.
    pub fn alarm(self, text: impl Display) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: impl Display) -> String {
        match self.colours {
            Colours::Wanted => match text.to_string() {
                empty if empty.is_empty() => empty,
                text => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            },
            Colours::Unwanted => text.to_string(),
        }
    }
}
