//! Connections, timeouts and errors that are shared by the commands that inspect a bus.

use std::time::Duration;

use capture::text::nearest::{nearest, suggestion};
use capture::text::visible::printable;
use inspector::{Inspector, InspectorFailure, InspectorTimeouts, Name};

use crate::bus_choice::{BusChoice, Unreachable};
use crate::exit::ExitError;

/// Connects to the chosen bus, with this timeout for each reply.
pub(crate) fn inspector(
    choice: &BusChoice,
    timeout: Duration,
) -> Result<Inspector, InspectionError> {
    Ok(choice.inspector(timeouts_of(timeout))?)
}

/// Derives all timeouts of the inspector from the timeout for one reply.
pub(crate) const fn timeouts_of(reply: Duration) -> InspectorTimeouts {
    InspectorTimeouts { reply, total: reply.saturating_mul(WHOLE_FACTOR) }
}

/// Returns all names on the bus.
pub(crate) fn names(
    inspector: &Inspector,
    choice: &BusChoice,
) -> Result<Vec<Name>, InspectionError> {
    let failed = |failure| InspectionError::Bus { choice: choice.to_string(), failure };
    inspector.names().map_err(failed)
}

/// Returns the error for a name that is not on the bus, with similar names as suggestions.
pub(crate) fn no_such_name(
    inspector: &Inspector,
    choice: &BusChoice,
    name: &str,
) -> InspectionError {
    let known = inspector.names().unwrap_or_default();
    let known = known.iter().map(|known| known.name.as_str());
    InspectionError::NoSuchName {
        name: name.to_owned(),
        choice: choice.to_string(),
        suggestion: suggestion(&nearest(name, known)),
    }
}

/// Returns true if a request failed because the name has no owner and is not activatable.
pub(crate) fn is_unknown_name(failure: &InspectorFailure) -> bool {
    failure.error_name().is_some_and(|name| UNKNOWN_NAME_ERRORS.contains(&name))
}

/// An error of a command that inspects a bus.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectionError {
    #[error(transparent)]
    Connect(#[from] Unreachable),
    #[error("{choice} does not reply: {failure}")]
    Bus { choice: String, failure: InspectorFailure },
    /// A request to a peer failed; `request` describes it.
    #[error("{request}: {failure}{suggestion}")]
    Request { request: String, failure: InspectorFailure, suggestion: String },
    /// An argument is not a valid name.
    #[error("{failure}")]
    InvalidName { failure: InspectorFailure },
    #[error("no such name on {choice}: {name}{suggestion}")]
    NoSuchName { name: String, choice: String, suggestion: String },
    #[error("{path} has no interface {interface}{suggestion}")]
    NoSuchInterface { interface: String, path: String, suggestion: String },
    #[error(
        "{path} has only standard interfaces; name one of them: {}",
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

impl ExitError for InspectionError {}

/// The timeout for all replies together, as a multiple of the timeout for one.
const WHOLE_FACTOR: u32 = 3;

const UNKNOWN_NAME_ERRORS: [&str; 2] =
    ["org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"];
