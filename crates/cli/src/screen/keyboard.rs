//! What somebody presses and pastes, as crossterm parses it.
//!
//! A thread of its own reads the terminal. crossterm waits within a read until an escape sequence or a
//! character is complete, and it reads a closed terminal for ever. Neither may keep the event loop
//! from a bus.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{
    self, Event as TerminalEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use rustix::io::ioctl_fionread;
use sys::poll::{Events, Interest, Poller};

/// What somebody did at the terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TerminalInput {
    /// Pressed a key.
    Key(KeyEvent),
    /// Pasted a text.
    Paste(String),
    /// Pressed Ctrl-C.
    Interrupt,
    /// Pressed Ctrl-Z.
    Suspend,
    /// Closed the terminal.
    Gone,
}

/// Input from the terminal. It is readable when there is something to [take](Self::take).
#[derive(Debug)]
pub(crate) struct Keyboard {
    inputs: Receiver<TerminalInput>,
    /// A byte for each input.
    wake: PipeReader,
}

impl Keyboard {
    /// Begins to read the terminal.
    pub(super) fn start() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel();
        let (wake, waker) = io::pipe()?;
        let mut reader = KeyReader { sender, waker };
        thread::Builder::new().name("keyboard".into()).spawn(move || reader.run())?;
        Ok(Self { inputs, wake })
    }

    /// Takes what has come; waits for it if there is nothing.
    pub(crate) fn take(&mut self) -> io::Result<Vec<TerminalInput>> {
        let mut bytes = [0; 256];
        if self.wake.read(&mut bytes)? == 0 {
            return Ok(vec![TerminalInput::Gone]);
        }
        Ok(self.inputs.try_iter().collect())
    }
}

impl AsFd for Keyboard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// The side that reads the terminal.
struct KeyReader {
    sender: Sender<TerminalInput>,
    waker: PipeWriter,
}

impl KeyReader {
    /// Passes on input until the terminal is gone, or nobody takes it any more.
    fn run(&mut self) {
        // The end of the pipe says the same as `TerminalInput::Gone`.
        let _ = self.pass_on();
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let poller = Poller::new()?;
        poller.add(stdin(), 0, Interest::Read)?;
        let mut ready = Events::with_capacity(1);
        loop {
            poller.wait(&mut ready, None)?;
            if ready.iter().any(|event| event.is_hangup() || event.is_error()) {
                return Ok(());
            }
            // A signal may have ended the wait, and the other end of a terminal may have been closed.
            match ioctl_fionread(stdin())? {
                0 if ready.is_empty() => continue,
                0 => return Ok(()),
                1 => thread::sleep(SEQUENCE_PAUSE),
                _ => {}
            }
            while event::poll(Duration::ZERO)? {
                if let Some(input) = input(event::read()?) {
                    self.sender.send(input).map_err(|_| io::ErrorKind::BrokenPipe)?;
                    self.waker.write_all(&[0])?;
                }
            }
        }
    }
}

/// What an event of the terminal means. A changed size comes as a signal.
fn input(event: TerminalEvent) -> Option<TerminalInput> {
    match event {
        TerminalEvent::Key(key) if key.kind == KeyEventKind::Release => None,
        TerminalEvent::Key(key) => Some(match (key.code, key.modifiers) {
            (KeyCode::Char('c'), KeyModifiers::CONTROL) => TerminalInput::Interrupt,
            (KeyCode::Char('z'), KeyModifiers::CONTROL) => TerminalInput::Suspend,
            _ => TerminalInput::Key(key),
        }),
        TerminalEvent::Paste(text) => Some(TerminalInput::Paste(text)),
        _ => None,
    }
}

/// How long the rest of a sequence is awaited. An escape character alone is a key, and crossterm takes it for
/// one if nothing follows it at once; over a slow connection the rest may come in another packet.
const SEQUENCE_PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_every_view_knows_are_told_from_others() {
        let key = |code, modifiers| KeyEvent::new(code, modifiers);
        let c = key(KeyCode::Char('c'), KeyModifiers::NONE);
        for (event, expected) in [
            (TerminalEvent::Key(c), Some(TerminalInput::Key(c))),
            (
                TerminalEvent::Key(key(KeyCode::Char('c'), KeyModifiers::CONTROL)),
                Some(TerminalInput::Interrupt),
            ),
            (
                TerminalEvent::Key(key(KeyCode::Char('z'), KeyModifiers::CONTROL)),
                Some(TerminalInput::Suspend),
            ),
            (TerminalEvent::Paste("q\n".into()), Some(TerminalInput::Paste("q\n".into()))),
            (TerminalEvent::Resize(80, 24), None),
            (TerminalEvent::FocusGained, None),
        ] {
            assert_eq!(input(event.clone()), expected, "{event:?}");
        }
    }
}
