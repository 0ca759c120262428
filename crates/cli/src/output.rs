//! Printing for people and for pipes.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a text that is all the command has to do. A reader that has seen enough and left is fine.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    let outcome = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("cannot write to standard output: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Says why a command has failed; its exit status is this.
pub(crate) fn failed(command: &str, error: &impl Display, status: ExitCode) -> ExitCode {
    complain(&format!("diligence {command}: {error}\n"));
    status
}

/// Prints to standard error. If that fails there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
