//! A command that the user gave on the command line. It inherits the standard streams and the
//! terminal, and signals to this program are forwarded to it.

mod terminal;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::Signal as SignalNumber;
use sys::signals::ProcessSignal;
use sys::spawn::ChildSetup;

use crate::children::send_signal;
use crate::exit::ExitError;

/// The running process of a user command.
#[derive(Debug)]
pub(crate) struct UserCommand(Child);

/// A user command could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UserCommandError {
    #[error("unknown option {word}; to run a program of this name, write ./{word}", word = .0.display())]
    UnknownOption(OsString),
    #[error("cannot run {}: {error}", program.display())]
    Start { program: OsString, error: io::Error },
}

/// Returns the command without changes to its environment. The parser accepts any words here, so a
/// first word that begins with a hyphen is rejected as an unknown option.
pub(crate) fn command(words: &[OsString]) -> Result<Command, UserCommandError> {
    let (program, arguments) = words.split_first().expect("the command line requires one");
    if program.as_bytes().starts_with(b"-") {
        return Err(UserCommandError::UnknownOption(program.clone()));
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

impl UserCommand {
    /// Starts the command with the inherited streams.
    pub(crate) fn start(mut command: Command) -> Result<Self, UserCommandError> {
        ChildSetup::new().install(&mut command);
        let program = command.get_program().to_owned();
        command.spawn().map(Self).map_err(|error| UserCommandError::Start { program, error })
    }

    /// The exit status of the command, if it has ended.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Forwards a signal, unless the command receives it without help.
    pub(crate) fn forward(&mut self, signal: ProcessSignal) {
        if let Some(number) = forwarded_signal(signal) {
            send_signal(&mut self.0, number);
        }
    }
}

impl ExitError for UserCommandError {
    fn status(&self) -> u8 {
        match self {
            Self::UnknownOption(_) => 2,
            Self::Start { .. } => 127,
        }
    }
}

/// The signals that a caller must handle while a user command runs.
pub(crate) const SIGNALS: [ProcessSignal; 5] = [
    ProcessSignal::Interrupt,
    ProcessSignal::Terminate,
    ProcessSignal::HangUp,
    ProcessSignal::Child,
    ProcessSignal::FileSize,
];

/// The signal to forward to the command; `None` if there is nothing to forward.
fn forwarded_signal(signal: ProcessSignal) -> Option<SignalNumber> {
    match signal {
        ProcessSignal::Terminate => Some(SignalNumber::TERM),
        ProcessSignal::HangUp => Some(SignalNumber::HUP),
        // The terminal sends this signal to all processes in the foreground.
        ProcessSignal::Interrupt if terminal::is_in_foreground() => None,
        ProcessSignal::Interrupt => Some(SignalNumber::INT),
        ProcessSignal::User1
        | ProcessSignal::User2
        | ProcessSignal::Reexecute
        | ProcessSignal::Child
        | ProcessSignal::FileSize
        | ProcessSignal::Resized
        | ProcessSignal::Suspend => None,
    }
}

/// The exit status as a shell reports it: 128 plus the number of the signal that ended the command.
pub(crate) fn shell_status(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    // An ended process has an exit status or a signal, and both are small.
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_follow_the_convention_of_shells() {
        for (raw, expected) in [(0, 0), (3 << 8, 3), (255 << 8, 255), (15, 143), (9, 137)] {
            assert_eq!(shell_status(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }
}
