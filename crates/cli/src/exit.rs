//! How a command ends: its last output, its error message, and its exit status.

use std::fmt;
use std::process::ExitCode;

use capture::text::visible::printable;

use crate::output::{print, print_to_stderr};

/// The result of a command that succeeded.
pub(crate) trait ExitOutcome {
    /// Prints the remaining output, if any, and returns the exit status.
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

/// A text is printed to standard output.
impl ExitOutcome for String {
    fn conclude(self) -> ExitCode {
        print(&self)
    }
}

/// An error of a command. Its text is one sentence without the name of the command.
pub(crate) trait ExitError: fmt::Display {
    /// The text to print, in which texts of peers cannot begin a line.
    fn printed(&self) -> String {
        printable(&self.to_string()).into_owned()
    }

    /// The exit status; 2 means that the command line is wrong.
    fn status(&self) -> u8 {
        1
    }

    /// True if the command counts as successful, for example because the reader of its output
    /// closed the pipe.
    fn is_quiet(&self) -> bool {
        false
    }
}

/// Prints the output or the error of a command and returns its exit status.
pub(crate) fn conclude<O: ExitOutcome, E: ExitError>(
    command: &str,
    outcome: Result<O, E>,
) -> ExitCode {
    match outcome {
        Ok(outcome) => outcome.conclude(),
        Err(error) if error.is_quiet() => ExitCode::SUCCESS,
        Err(error) => {
            print_to_stderr(&format!("diligence {command}: {}\n", error.printed()));
            ExitCode::from(error.status())
        }
    }
}
