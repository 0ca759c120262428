//! What the commands that look at a bus have in common: how they ask, and why they cannot.

use std::fmt;
use std::time::Duration;

use capture::text::nearest::{nearest, suggestion};
use capture::text::visible::printable;
use inspector::{Failure, Inspector, Name, Patience};

use crate::bus_choice::{BusChoice, Unreachable};

/// Connects to the bus that was chosen. Each answer is waited for so long.
pub(crate) fn inspector(choice: &BusChoice, timeout: Duration) -> Result<Inspector, LookError> {
    Ok(choice.inspector(patience(timeout))?)
}

/// How long is waited if an answer is waited for so long.
pub(crate) const fn patience(timeout: Duration) -> Patience {
    Patience { answer: timeout, whole: timeout.saturating_mul(WHOLE_FACTOR) }
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
pub(crate) fn is_nobody(failure: &Failure) -> bool {
    failure.error_name().is_some_and(|name| NOBODY.contains(&name))
}

/// Why a bus is not looked at.
#[derive(Debug)]
pub(crate) enum LookError {
    /// There is no connection to it.
    Connect(Unreachable),
    /// It does not answer as a bus has to.
    Bus { choice: String, failure: Failure },
    /// Somebody on it does not answer as he has to; this is what was asked.
    Asked { what: String, failure: Failure, suggestion: String },
    /// A word is no name of a bus.
    Word { failure: Failure },
    /// A name is nobody's.
    NoSuchName { name: String, choice: String, suggestion: String },
    /// An object has no such interface.
    NoSuchInterface { interface: String, path: String, suggestion: String },
    /// An object has no interface but those of the specification.
    OnlyStandard { path: String, known: Vec<String> },
    /// There is nothing at a path.
    NoSuchObject { path: String, name: String, suggestion: String },
    /// There is no such process.
    NoSuchProcess { pid: u32 },
    /// Nobody has a name for which a service could be started.
    NotRunning { name: String },
}

impl fmt::Display for LookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::Bus { choice, failure } => write!(f, "{choice} does not answer: {failure}"),
            Self::Asked { what, failure, suggestion } => write!(f, "{what}: {failure}{suggestion}"),
            Self::Word { failure } => failure.fmt(f),
            Self::NoSuchName { name, choice, suggestion } => {
                write!(f, "no such name on {choice}: {name}{suggestion}")
            }
            Self::NoSuchInterface { interface, path, suggestion } => {
                write!(f, "{path} has no interface {interface}{suggestion}")
            }
            Self::OnlyStandard { path, known } => {
                let known = printable(&known.join(", ")).into_owned();
                write!(f, "{path} has only interfaces of the specification; name one of {known}")
            }
            Self::NoSuchObject { path, name, suggestion } => {
                write!(f, "{name} has nothing at {path}{suggestion}")
            }
            Self::NoSuchProcess { pid } => write!(f, "there is no process {pid}"),
            Self::NotRunning { name } => {
                write!(f, "nobody has the name {name} now; the bus can start a service that will")
            }
        }
    }
}

impl std::error::Error for LookError {}

impl From<Unreachable> for LookError {
    fn from(error: Unreachable) -> Self {
        Self::Connect(error)
    }
}

/// All answers together may take so many times as long as one.
const WHOLE_FACTOR: u32 = 3;

const NOBODY: [&str; 2] =
    ["org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"];
