//! Terminal screens of the live commands: `up`, `top`, and `--live` of others.
//!
//! - [`Screen`]: takes over the terminal and restores it, also after a panic and while suspended.
//! - [`keyboard`]: key presses and pasted text, parsed by crossterm.
//! - [`keys`]: the key table of a view. Its actions, its help and its footer come from this one
//!   table.
//! - [`controls`]: the controls that all views share: quit, pause, help, scroll.
//! - [`scroll`] and [`table`]: lists of rows below a heading.
//! - [`palette`]: styles, with and without colors.

pub(crate) mod controls;
pub(crate) mod keyboard;
pub(crate) mod keys;
pub(crate) mod palette;
pub(crate) mod scroll;
pub(crate) mod table;

use std::io::{self, Stdout, Write as _, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Once;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};

pub(crate) use keyboard::{Keyboard, TerminalInput};

/// The terminal while a view is drawn on it. Dropping it restores the state of the terminal; a
/// panic restores it too.
#[derive(Debug)]
pub(crate) struct Screen {
    // `Terminal::drop` prints an error if the terminal is gone, and panics if that fails. So it is
    // never called.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    keyboard: Keyboard,
}

impl Screen {
    /// Takes over the terminal. The caller must block the signals that it reads before this call,
    /// because the new thread inherits the mask.
    pub(crate) fn enter() -> io::Result<Self> {
        restore_after_panic();
        let terminal = ManuallyDrop::new(take_over()?);
        match Keyboard::start() {
            Ok(keyboard) => Ok(Self { terminal, keyboard }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws a view. Only changed cells are sent to the terminal.
    pub(crate) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(view).map(|_| ())
    }

    /// The keyboard of the terminal.
    pub(crate) const fn keyboard(&mut self) -> &mut Keyboard {
        &mut self.keyboard
    }

    /// Restores the terminal and stops this process until a shell continues it.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        restore();
        sys::signals::suspend()?;
        // A new `Terminal` draws all cells, because it does not know the content of the screen.
        self.terminal = ManuallyDrop::new(take_over()?);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn take_over() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    enable_raw_mode()?;
    let entered = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)
        .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
    entered.inspect_err(|_| restore())
}

/// Makes panics restore the terminal first, so that the panic message stays readable.
fn restore_after_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            print(panic);
        }));
    });
}

/// Restores the terminal. Errors are ignored, because they mean that the terminal is gone.
fn restore() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}

/// Draws a view on a terminal of this size in memory, and returns the cells and the text without
/// trailing spaces.
#[cfg(test)]
pub(crate) fn drawn(
    (width, height): (u16, u16),
    view: impl FnOnce(&mut Frame<'_>),
) -> (ratatui::buffer::Buffer, String) {
    let backend = ratatui::backend::TestBackend::new(width, height);
    let mut terminal = Terminal::new(backend).expect("a terminal in memory");
    terminal.draw(view).expect("it is in memory");
    let buffer = terminal.backend().buffer().clone();
    let lines = buffer.content.chunks(usize::from(width).max(1)).map(|line| {
        let line: String = line.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    });
    let text = lines.collect();
    (buffer, text)
}
