//! The terminal, as long as it shows the page, and its way back.

use std::io::{self, Stdout, Write, stdin, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Once;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::io::{Errno, read, retry_on_intr};

use super::keys::{self, Action};
use super::page::Page;

/// The terminal while it shows the page. Dropped, it is as it was; after a panic, too.
#[derive(Debug)]
pub(crate) struct Screen {
    // Dropped, it would complain if the terminal is gone, and panic if that cannot be written.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

/// What somebody at the terminal did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// Pressed keys, of which these mean something.
    Keys(Vec<Action>),
    /// Left: the terminal is gone.
    Gone,
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn enter() -> io::Result<Self> {
        restore_after_panic();
        enable_raw_mode()?;
        let entered = execute!(stdout(), EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match entered {
            Ok(terminal) => Ok(Self { terminal: ManuallyDrop::new(terminal) }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws the page; only what has changed is sent to the terminal.
    pub(crate) fn draw(&mut self, page: &Page<'_>) -> io::Result<()> {
        self.terminal.draw(|frame| page.draw(frame)).map(|_| ())
    }

    /// Reads once what somebody has done; waits for it if there is nothing.
    pub(crate) fn input(&mut self) -> io::Result<Input> {
        let mut bytes = [0; 256];
        match retry_on_intr(|| read(stdin(), &mut bytes)) {
            Ok(0) => Ok(Input::Gone),
            Ok(count) => Ok(Input::Keys(keys::actions(&bytes[..count]))),
            // So says a terminal whose other end is closed.
            Err(Errno::IO) => Ok(Input::Gone),
            Err(error) => Err(error.into()),
        }
    }

    /// How many columns and lines it has now.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        terminal::size()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A panic is told after the terminal is as it was, or nobody could read it.
fn restore_after_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            tell(panic);
        }));
    });
}

/// If this fails, the terminal is gone.
fn restore() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}
