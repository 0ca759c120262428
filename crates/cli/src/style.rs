//! What the output looks like: its width, and whether it has colors.

use std::env;
use std::io::{IsTerminal as _, stdout};

use capture::show::Lines;
use capture::text::{Colours, Style};
use clap::{Args, ValueEnum};

/// Whether the output has colors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Args)]
pub(crate) struct ColorChoice {
    /// Use colors; auto: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    color: When,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// The style of the standard output.
    pub(crate) fn of_stdout(self) -> Style {
        let style = of_stdout();
        match self.color {
            When::Auto => style,
            When::Always => Style { colours: Colours::Wanted, ..style },
            When::Never => Style { colours: Colours::Unwanted, ..style },
        }
    }

    /// The style of lines for messages: in a pipe nothing is cut.
    pub(crate) fn of_lines(self) -> Style {
        match (self.of_stdout(), stdout().is_terminal()) {
            (style, true) => style,
            (style, false) => Style { width: Lines::UNLIMITED, ..style },
        }
    }
}

/// What suits the standard output: the width of the terminal, and colors unless `NO_COLOR` is set;
/// wide and plain where there is none.
pub(crate) fn of_stdout() -> Style {
    let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let size = stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(stdout()));
    match size {
        None => Style::plain(WIDTH_OF_PIPES),
        Some(size) => {
            let columns = size.map_or(0, |size| usize::from(size.ws_col));
            let width = if columns == 0 { WIDTH_USUAL } else { columns.max(WIDTH_MIN) };
            let colours = if is_unwanted { Colours::Unwanted } else { Colours::Wanted };
            Style { width, colours }
        }
    }
}

/// Cells of a line where nobody says how many there are.
const WIDTH_USUAL: usize = 80;

/// Narrower than that, lines are broken by the terminal.
const WIDTH_MIN: usize = 60;

/// Cells of a line that goes to a program.
const WIDTH_OF_PIPES: usize = 120;
