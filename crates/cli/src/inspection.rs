//! What the commands that look at a bus have in common: how they ask, and why they cannot.

use std::time::Duration;

use capture::text::nearest::{nearest, suggestion};
use capture::text::visible::printable;
use inspector::{Inspector, InspectorFailure, InspectorTimeouts, Name};

use crate::bus_choice::{BusChoice, Unreachable};
use crate::exit::ExitError;

/// Connects to the bus that was chosen. Each answer is waited for so long.
pub(crate) fn inspector(choice: &BusChoice, timeout: Duration) -> Result<Inspector, LookError> {
    Ok(choice.inspector(patience(timeout))?)
}

/// How long is waited if an answer is waited for so long.
pub(crate) const fn patience(timeout: Duration) -> InspectorTimeouts {
    InspectorTimeouts { reply: timeout, total: timeout.saturating_mul(WHOLE_FACTOR) }
}

/// The names of a bus.
pub(crate) fn names(inspector: &Inspector, choice: &BusChoice) -> Result<Vec<Name>, LookError> {
    let failed = |failure| LookError::Bus { choice: choice.to_string(), failure };
    inspector.names().map_err(failed)
}

/// That a name is not on the bus, with the names that may have been meant.
pub(crate) fn no_such_name(inspector: &Inspector, choice: &BusChoice, name: &str) -> LookError {
    let known = inspector.names().unwrap_or_default();
    let known = known.iter().map(|known| known.name.as_str());
    LookError::NoSuchName {
        name: name.to_owned(),
        choice: choice.to_string(),
        suggestion: suggestion(&nearest(name, known)),
    }
}

/// Whether a failure says that nobody has the name and nobody can be started for it.
pub(crate) fn is_nobody(failure: &InspectorFailure) -> bool {
    failure.error_name().is_some_and(|name| NOBODY.contains(&name))
}

/// Why a command could not inspect a bus.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error(transparent)]
    Connect(#[from] Unreachable),
    #[error("{choice} does not answer: {failure}")]
    Bus { choice: String, failure: InspectorFailure },
    /// A request to a peer failed; `what` describes the request.
    #[error("{what}: {failure}{suggestion}")]
    Asked { what: String, failure: InspectorFailure, suggestion: String },
    /// An argument is not a valid name.
    #[error("{failure}")]
    Word { failure: InspectorFailure },
    #[error("no such name on {choice}: {name}{suggestion}")]
    NoSuchName { name: String, choice: String, suggestion: String },
    #[error("{path} has no interface {interface}{suggestion}")]
    NoSuchInterface { interface: String, path: String, suggestion: String },
    #[error(
        "{path} has only interfaces of the specification; name one of {}",
        printable(&known.join(", "))
    )]
    OnlyStandard { path: String, known: Vec<String> },
    #[error("{name} has no object at {path}{suggestion}")]
    NoSuchObject { path: String, name: String, suggestion: String },
    #[error("there is no process {pid}")]
    NoSuchProcess { pid: u32 },
    /// The name has no owner, but it is activatable.
    #[error("the name {name} has no owner now; `diligence start {name}` starts its service")]
    NotRunning { name: String },
}

impl ExitError for LookError {}

/// All answers together may take so many times as long as one.
const WHOLE_FACTOR: u32 = 3;

const NOBODY: [&str; 2] =
    ["org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"];
