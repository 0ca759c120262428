//! The terminal UI kit of the live commands: `up`, `top`, and `--live` of others.
//!
//! - [`Screen`]: takes the terminal over and gives it back, also after a panic or while suspended.
//! - [`keyboard`]: key presses and pasted text, as crossterm parses them.
//! - [`keys`]: the key table of a view. Its actions, its help and its footer come from this one table.
//! - [`controls`]: what every view does alike: quit, pause, help, scroll.
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

/// The terminal while a view is on it. When it is dropped, the terminal gets its former state back;
/// after a panic, too.
#[derive(Debug)]
pub(crate) struct Screen {
    // Its own `drop` prints an error if the terminal is gone, and panics if that cannot be printed.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    keyboard: Keyboard,
}

impl Screen {
    /// Takes the terminal over. Block the signals that the program reads before: a thread starts here.
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

    /// Draws a view. Only what differs from the last drawing is sent to the terminal.
    pub(crate) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(view).map(|_| ())
    }

    /// What is pressed on the keyboard.
    pub(crate) const fn keyboard(&mut self) -> &mut Keyboard {
        &mut self.keyboard
    }

    /// Gives the terminal back and stops this process until a shell continues it.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        restore();
        sys::signals::suspend()?;
        // A new one knows nothing of what is on the screen, so it draws everything.
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

/// The message of a panic is printed after the terminal was given back; otherwise nobody could read it.
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

/// Gives the terminal back. If this fails, the terminal is gone.
fn restore() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}

/// What a view looks like on a terminal of this size, without blanks at the ends of lines.
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
