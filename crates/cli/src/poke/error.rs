//! Errors of the commands that call methods, and read and set properties.

use capture::text::nearest::suggestion;
use capture::text::visible::printable;
use inspector::{ArgumentError, InspectorFailure};

use crate::bus_choice::Unreachable;
use crate::exit::ExitError;

/// An error of a call, or of reading or setting a property. Its text is safe for a terminal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PokeError {
    /// The command line is malformed.
    #[error("{}", printable(.0))]
    Words(String),
    #[error(transparent)]
    Connect(#[from] Unreachable),
    /// The arguments of this member do not fit.
    #[error("{}: {}", printable(member), printable(&error.to_string()))]
    Arguments { member: String, error: ArgumentError },
    #[error(
        "several interfaces have {}; name one of: {}",
        printable(member),
        printable(&full_names.join(", "))
    )]
    Several { member: String, full_names: Vec<String> },
    /// The bus or the peer did not do it; `nearest` has similar names.
    #[error("{}{}", printable(&failure.to_string()), hint(nearest))]
    Failed { failure: InspectorFailure, nearest: Vec<String> },
    #[error(
        "the object does not describe a property {}{}",
        printable(member),
        match nearest.is_empty() {
            true => format!("; if it has this property, give its interface too: INTERFACE {}", printable(member)),
            false => hint(nearest),
        }
    )]
    NoProperty { member: String, nearest: Vec<String> },
    /// A path without an object looks the same as an object without interfaces.
    #[error(
        "{} has no object {}, or the object has no interfaces{}",
        printable(service),
        printable(path),
        hint(nearest)
    )]
    NoInterfaces { service: String, path: String, nearest: Vec<String> },
    /// The requested name is not available.
    #[error("{}", printable(.0))]
    Name(String),
    /// The time limit was reached.
    #[error("{}", printable(.0))]
    Late(String),
}

impl ExitError for PokeError {
    fn status(&self) -> u8 {
        if matches!(self, Self::Words(_)) { 2 } else { 1 }
    }
}

impl From<InspectorFailure> for PokeError {
    fn from(failure: InspectorFailure) -> Self {
        Self::Failed { failure, nearest: Vec::new() }
    }
}

fn hint(nearest: &[String]) -> String {
    let names: Vec<_> = nearest.iter().map(String::as_str).collect();
    printable(&suggestion(&names)).into_owned()
}
