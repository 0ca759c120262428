//! The terminal, as long as it shows the page, and its way back.

pub(crate) mod parts;

use std::io::{self, Stdout, Write, stdin, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Once;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use rustix::io::{Errno, read, retry_on_intr};

/// The terminal while it shows the page. Dropped, it is as it was; after a panic, too.
#[derive(Debug)]
pub(crate) struct Screen {
    // Dropped, it would complain if the terminal is gone, and panic if that cannot be written.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

/// What somebody at the terminal did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// Pressed keys, each with the bytes that it sends.
    Keys(Vec<Vec<u8>>),
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

    /// Draws a page; only what has changed is sent to the terminal.
    pub(crate) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(page).map(|_| ())
    }

    /// Reads once what somebody has done; waits for it if there is nothing.
    pub(crate) fn input(&mut self) -> io::Result<Input> {
        let mut bytes = [0; 256];
        match retry_on_intr(|| read(stdin(), &mut bytes)) {
            Ok(0) => Ok(Input::Gone),
            Ok(count) => Ok(Input::Keys(keys(&bytes[..count]))),
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

/// The keys that bytes from a terminal stand for. It sends letters as they are, others as an escape
/// character with a sequence behind it.
pub(crate) fn keys(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| next_key(&mut bytes).map(<[u8]>::to_vec)).collect()
}

/// Takes the bytes of one key off the front.
fn next_key<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = match bytes {
        [] => return None,
        // A sequence ends in a letter or a tilde.
        [ESCAPE, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (b'@'..=b'~').contains(byte));
            end.map_or(bytes.len(), |end| end + 3)
        }
        [ESCAPE, b'O', _, ..] => 3,
        _ => 1,
    };
    let (key, rest) = bytes.split_at(len);
    *bytes = rest;
    Some(key)
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

const ESCAPE: u8 = 0x1b;
