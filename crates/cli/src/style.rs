//! How what goes to the standard output may look.

use std::env;
use std::io::{IsTerminal as _, stdout};

use capture::text::{Colours, Style};

/// What suits the standard output: the width of the terminal, and colours unless `NO_COLOR` is set;
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
