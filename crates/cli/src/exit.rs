//! How a command ends: what it prints at the end, and its exit status.

use std::fmt;
use std::process::ExitCode;

use crate::output::{complain, print};

/// What a command returns that has succeeded.
pub(crate) trait ExitOutcome {
    /// Prints the rest of the output, if there is some, and returns the exit status.
    fn conclude(self) -> ExitCode;
}

impl ExitOutcome for () {
    fn conclude(self) -> ExitCode {
        ExitCode::SUCCESS
    }
}

impl ExitOutcome for ExitCode {
    fn conclude(self) -> ExitCode {
        self
    }
}

impl ExitOutcome for u8 {
    fn conclude(self) -> ExitCode {
        ExitCode::from(self)
    }
}

/// The output of the command.
impl ExitOutcome for String {
    fn conclude(self) -> ExitCode {
        print(&self)
    }
}

/// Why a command failed. The text is one sentence, without the name of the command.
pub(crate) trait ExitError: fmt::Display {
    /// The exit status: 2 if the command line is wrong.
    fn status(&self) -> u8 {
        1
    }

    /// Whether the command succeeded all the same, for example because the reader of its output has seen
    /// enough and left.
    fn is_quiet(&self) -> bool {
        false
    }
}

/// Ends the command of this name.
pub(crate) fn conclude<O: ExitOutcome, E: ExitError>(
    command: &str,
    outcome: Result<O, E>,
) -> ExitCode {
    match outcome {
        Ok(outcome) => outcome.conclude(),
        Err(error) if error.is_quiet() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("diligence {command}: {error}\n"));
            ExitCode::from(error.status())
        }
    }
}
