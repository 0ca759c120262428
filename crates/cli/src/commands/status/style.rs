//! How a text may look where it is printed.

use std::env;
use std::fmt::Display;
use std::io::{IsTerminal as _, stdout};

/// How a text may look where it is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Style {
    /// Cells of a line.
    pub(super) width: usize,
    pub(super) colours: Colours,
}

/// Whether a text may have colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colours {
    Wanted,
    Unwanted,
}

impl Style {
    /// What suits the standard output: the width of the terminal, and colours unless `NO_COLOR` is
    /// set; wide and plain where there is none.
    pub(super) fn of_stdout() -> Self {
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let size = stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(stdout()));
        match size {
            None => Self { width: WIDTH_OF_PIPES, colours: Colours::Unwanted },
            Some(size) => {
                let columns = size.map_or(0, |size| usize::from(size.ws_col));
                let width = if columns == 0 { WIDTH_USUAL } else { columns.max(WIDTH_MIN) };
                let colours = if is_unwanted { Colours::Unwanted } else { Colours::Wanted };
                Self { width, colours }
            }
        }
    }

    pub(super) fn strong(self, text: impl Display) -> String {
        self.wrap("1", text)
    }

    pub(super) fn pale(self, text: impl Display) -> String {
        self.wrap("2", text)
    }

    pub(super) fn alarm(self, text: impl Display) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: impl Display) -> String {
        match self.colours {
            Colours::Wanted => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colours::Unwanted => text.to_string(),
        }
    }
}

/// Cells of a line where nobody says how many there are.
const WIDTH_USUAL: usize = 80;

/// Narrower than that, lines are broken by the terminal.
const WIDTH_MIN: usize = 60;

/// Cells of a line that goes to a program.
const WIDTH_OF_PIPES: usize = 120;
