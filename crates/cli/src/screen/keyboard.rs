//! Input from the terminal, parsed by crossterm.
//!
//! A separate thread reads the terminal. A read of crossterm blocks until an escape sequence or a
//! character is complete, and it never returns if the terminal was closed. In the event loop, both
//! would block the connection to the bus.

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

/// An input event from the terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TerminalInput {
    /// The user pressed a key.
    Key(KeyEvent),
    /// The user pasted a text.
    Paste(String),
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The user pressed Ctrl-Z.
    Suspend,
    /// The terminal was closed.
    Gone,
}

/// Input from the terminal. Its descriptor is readable while there are events to
/// [take](Self::take).
#[derive(Debug)]
pub(crate) struct Keyboard {
    inputs: Receiver<TerminalInput>,
    /// The read end of a pipe with one byte for each event.
    wake: PipeReader,
}

impl Keyboard {
    /// Starts the thread that reads the terminal.
    pub(super) fn start() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel();
        let (wake, waker) = io::pipe()?;
        let mut reader = KeyReader { sender, waker };
        thread::Builder::new().name("keyboard".into()).spawn(move || reader.run())?;
        Ok(Self { inputs, wake })
    }

    /// Takes all pending events; blocks if there are none.
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

/// The part that runs in the reading thread.
struct KeyReader {
    sender: Sender<TerminalInput>,
    waker: PipeWriter,
}

impl KeyReader {
    /// Sends events until the terminal or the receiver is gone.
    fn run(&mut self) {
        // The receiver reads the end of the pipe as `TerminalInput::Gone`.
        let _ = self.forward();
    }

    fn forward(&mut self) -> io::Result<()> {
        let poller = Poller::new()?;
        poller.add(stdin(), 0, Interest::Read)?;
        let mut ready = Events::with_capacity(1);
        loop {
            poller.wait(&mut ready, None)?;
            if ready.iter().any(|event| event.is_hangup() || event.is_error()) {
                return Ok(());
            }
            // Zero bytes mean that a signal interrupted the wait, or that the terminal was closed.
            match ioctl_fionread(stdin())? {
                0 if ready.is_empty() => continue,
                0 => return Ok(()),
                available => wait_for_sequence(available)?,
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

/// Waits until no more bytes come, so that the available ones do not end within an escape sequence.
fn wait_for_sequence(mut available: u64) -> io::Result<()> {
    loop {
        thread::sleep(SEQUENCE_PAUSE);
        match ioctl_fionread(stdin())? {
            now if now > available => available = now,
            _ => return Ok(()),
        }
    }
}

/// Converts a terminal event. Changes of the size are ignored, because they are also signaled by
/// SIGWINCH.
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

/// The time to wait for the rest of an escape sequence. crossterm reads an escape character as a
/// key of its own if no more bytes are available, but over a slow connection the rest can be in the
/// next packet.
const SEQUENCE_PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_keys_become_interrupt_and_suspend() {
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
