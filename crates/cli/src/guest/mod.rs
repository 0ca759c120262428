//! A command of the user's that we run: it gets our streams and our terminal, and the signals that
//! are meant for it.

mod terminal;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::Signal as Number;
use sys::signals::ProcessSignal;
use sys::spawn::ChildSetup;

use crate::children::send_signal;
use crate::exit::ExitError;

/// A command of the user's that runs.
#[derive(Debug)]
pub(crate) struct Guest(Child);

/// Why the command that was given could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GuestError {
    #[error("there is no option {word}; a program of that name is ./{word}", word = .0.display())]
    UnknownOption(OsString),
    #[error("cannot run {}: {error}", program.display())]
    Start { program: OsString, error: io::Error },
}

/// The command, without its environment. That no option of ours is spelled so, the parser does not
/// notice in front of a command that may have any options.
pub(crate) fn command(words: &[OsString]) -> Result<Command, GuestError> {
    let (program, arguments) = words.split_first().expect("the command line requires one");
    if program.as_bytes().starts_with(b"-") {
        return Err(GuestError::UnknownOption(program.clone()));
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

impl Guest {
    /// Starts it.
    pub(crate) fn start(mut command: Command) -> Result<Self, GuestError> {
        ChildSetup::new().install(&mut command);
        let program = command.get_program().to_owned();
        command.spawn().map(Self).map_err(|error| GuestError::Start { program, error })
    }

    /// How it has ended, if it has.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Passes a signal on, unless the command gets it anyway.
    pub(crate) fn pass_on(&mut self, signal: ProcessSignal) {
        if let Some(number) = passed_on(signal) {
            send_signal(&mut self.0, number);
        }
    }
}

impl ExitError for GuestError {
    fn status(&self) -> u8 {
        match self {
            Self::UnknownOption(_) => 2,
            Self::Start { .. } => 127,
        }
    }
}

/// What who runs a command beside its own work is to be told.
pub(crate) const SIGNALS: [ProcessSignal; 5] = [
    ProcessSignal::Interrupt,
    ProcessSignal::Terminate,
    ProcessSignal::HangUp,
    ProcessSignal::Child,
    ProcessSignal::FileSize,
];

/// The signal that the command is to get, which does not get it anyway.
fn passed_on(signal: ProcessSignal) -> Option<Number> {
    match signal {
        ProcessSignal::Terminate => Some(Number::TERM),
        ProcessSignal::HangUp => Some(Number::HUP),
        // From the keys of a terminal, all processes in the foreground get it.
        ProcessSignal::Interrupt if terminal::is_in_foreground() => None,
        ProcessSignal::Interrupt => Some(Number::INT),
        ProcessSignal::User1
        | ProcessSignal::User2
        | ProcessSignal::Child
        | ProcessSignal::FileSize
        | ProcessSignal::Resized
        | ProcessSignal::Suspend => None,
    }
}

/// The exit status as a shell has it: 128 more than the number of the signal that ended a command.
pub(crate) fn shell_status(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    // A process has one of the two, and both are small.
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_that_of_a_shell() {
        for (raw, expected) in [(0, 0), (3 << 8, 3), (255 << 8, 255), (15, 143), (9, 137)] {
            assert_eq!(shell_status(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }
}
