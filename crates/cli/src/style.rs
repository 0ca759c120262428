//! The style of the output: its width and colors.

use std::env;
use std::io::{IsTerminal, stderr, stdout};
use std::os::fd::AsFd;

use capture::show::MessageLines;
use capture::text::{Colors, Style};
use clap::{Args, ValueEnum};

/// The option for colors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Args)]
pub(crate) struct ColorChoice {
    /// When to use colors; auto: on a terminal, unless NO_COLOR is set
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
    /// The style of standard output.
    pub(crate) fn of_stdout(self) -> Style {
        let style = of_stdout();
        match self.color {
            When::Auto => style,
            When::Always => Style { colors: Colors::Wanted, ..style },
            When::Never => Style { colors: Colors::Unwanted, ..style },
        }
    }

    /// The style of lines for messages: they are not shortened in a pipe.
    pub(crate) fn of_lines(self) -> Style {
        match (self.of_stdout(), stdout().is_terminal()) {
            (style, true) => style,
            (style, false) => Style { width: MessageLines::UNLIMITED, ..style },
        }
    }
}

/// The default style of standard output: its width, and colors on a terminal unless `NO_COLOR` is
/// set.
pub(crate) fn of_stdout() -> Style {
    let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colors = match stdout().is_terminal() && !is_unwanted {
        true => Colors::Wanted,
        false => Colors::Unwanted,
    };
    Style { width: width(&stdout()).unwrap_or(WIDTH_OF_PIPES), colors }
}

/// The width of standard error in cells; `None` if it is not a terminal.
pub(crate) fn width_of_stderr() -> Option<usize> {
    stderr().is_terminal().then(|| width(&stderr())).flatten()
}

/// The width of a line in cells: `COLUMNS`, or else the width of the terminal; `None` if it is not
/// a terminal.
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

/// The width in cells if the terminal does not report one.
const WIDTH_USUAL: usize = 80;

/// The minimum width; narrower terminals wrap the lines.
const WIDTH_MIN: usize = 60;

/// The maximum width, larger than any terminal.
const WIDTH_MAX: usize = 10_000;

/// The width of a line in a pipe.
const WIDTH_OF_PIPES: usize = 120;
