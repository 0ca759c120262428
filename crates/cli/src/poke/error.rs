//! Why something was not called, read or set.

use std::fmt;
use std::process::ExitCode;

use capture::text::nearest::suggestion;
use capture::text::visible::printable;
use inspector::{ArgumentError, Failure};

use crate::bus_choice::Unreachable;
use crate::output::failed;

/// Why it was not done. Its text is for people, and safe to be shown.
#[derive(Debug)]
pub(crate) enum PokeError {
    /// The command line is wrong.
    Words(String),
    /// There is no bus, or it does not want us.
    Connect(Unreachable),
    /// Arguments do not fit.
    Arguments {
        /// Of what.
        member: String,
        /// Why.
        error: ArgumentError,
    },
    /// Several interfaces have a member of this name.
    Several {
        /// The member.
        member: String,
        /// With their interfaces.
        full_names: Vec<String>,
    },
    /// It was asked for, and not done.
    Failed {
        /// Why.
        failure: Failure,
        /// What may have been meant instead.
        nearest: Vec<String>,
    },
    /// The object has no property of this name.
    NoProperty {
        /// The name.
        member: String,
        /// What may have been meant instead.
        nearest: Vec<String>,
    },
    /// The object has no interface, as paths that lead to no object have none.
    NoInterfaces {
        /// The service.
        service: String,
        /// The path.
        path: String,
        /// What may have been meant instead.
        nearest: Vec<String>,
    },
    /// A name that was wanted cannot be had.
    Name(String),
    /// The time is over.
    Late(String),
}

impl PokeError {
    /// Says it; gives the exit status.
    pub(crate) fn told(&self, command: &str) -> ExitCode {
        let status = match self {
            Self::Words(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        };
        failed(command, self, status)
    }
}

impl From<Unreachable> for PokeError {
    fn from(error: Unreachable) -> Self {
        Self::Connect(error)
    }
}

impl From<Failure> for PokeError {
    fn from(failure: Failure) -> Self {
        Self::Failed { failure, nearest: Vec::new() }
    }
}

impl fmt::Display for PokeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(text) | Self::Name(text) | Self::Late(text) => {
                f.write_str(&printable(text))
            }
            Self::Connect(error) => error.fmt(f),
            Self::Arguments { member, error } => {
                write!(f, "{}: {}", printable(member), printable(&error.to_string()))
            }
            Self::Several { member, full_names } => write!(
                f,
                "several interfaces have {}; say which: {}",
                printable(member),
                printable(&full_names.join(", "))
            ),
            Self::Failed { failure, nearest } => {
                f.write_str(&printable(&failure.to_string()))?;
                suggest(f, nearest)
            }
            Self::NoInterfaces { service, path, nearest } => {
                let (service, path) = (printable(service), printable(path));
                write!(f, "{service} has no object {path}, or one without interfaces")?;
                suggest(f, nearest)
            }
            Self::NoProperty { member, nearest } => {
                let member = printable(member);
                write!(f, "the object does not tell of a property {member}")?;
                match nearest.is_empty() {
                    true => {
                        write!(f, "; if it has one, name its interface, too: INTERFACE {member}")
                    }
                    false => suggest(f, nearest),
                }
            }
        }
    }
}

fn suggest(f: &mut fmt::Formatter<'_>, nearest: &[String]) -> fmt::Result {
    let names: Vec<_> = nearest.iter().map(String::as_str).collect();
    f.write_str(&printable(&suggestion(&names)))
}
