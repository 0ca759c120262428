//! What the output looks like: its width, and whether it has colors.

use std::env;
use std::io::{IsTerminal, stderr, stdout};
use std::os::fd::AsFd;

use capture::show::MessageLines;
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
            (style, false) => Style { width: MessageLines::UNLIMITED, ..style },
        }
    }
}

/// What suits the standard output: its width, and colors on a terminal unless `NO_COLOR` is set.
pub(crate) fn of_stdout() -> Style {
    let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colours = match stdout().is_terminal() && !is_unwanted {
        true => Colours::Wanted,
        false => Colours::Unwanted,
    };
    Style { width: width(&stdout()).unwrap_or(WIDTH_OF_PIPES), colours }
}

/// Cells of a line of standard error, if it is a terminal.
pub(crate) fn width_of_stderr() -> Option<usize> {
    stderr().is_terminal().then(|| width(&stderr())).flatten()
}

/// Cells of a line: what `COLUMNS` says, else what the terminal has; `None` if it is no terminal.
fn width(output: &(impl IsTerminal + AsFd)) -> Option<usize> {
    let wanted = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = match wanted.filter(|&columns| columns > 0) {
        Some(columns) => columns,
        None if output.is_terminal() => {
            let size = rustix::termios::tcgetwinsize(output).ok();
            let columns = size.map(|size| usize::from(size.ws_col));
            columns.filter(|&columns| columns > 0).unwrap_or(WIDTH_USUAL)
        }
        None => return None,
    };
    Some(columns.clamp(WIDTH_MIN, WIDTH_MAX))
}

/// Cells of a line where nobody says how many there are.
const WIDTH_USUAL: usize = 80;

/// Narrower than that, lines are broken by the terminal.
const WIDTH_MIN: usize = 60;

/// No terminal is as wide as that.
const WIDTH_MAX: usize = 10_000;

/// Cells of a line that goes to a program.
const WIDTH_OF_PIPES: usize = 120;
