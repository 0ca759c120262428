//! Reasons why a service did not start.

use alloc::boxed::Box;
use core::fmt::{self, Write};
use core::time::Duration;

use serde::{Deserialize, Serialize};
use wire::names::ErrorName;

use super::{ErrorKind, FittedText, ForeignError};

/// The id of a start. Ids are unique, so a late report about an old start cannot be mistaken for a
/// report about the next start of the same service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StartId(u64);

impl StartId {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for StartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start {}", self.0)
    }
}

/// The reason why the start of a service failed. Each waiter gets it as an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartProblem {
    /// The process of the service failed.
    Process(StartFailure),
    /// The service manager reports that it could not start the unit of the service.
    Unit {
        /// The unit that was requested.
        unit: Box<str>,
        /// The error name in the report.
        error: Box<str>,
        /// The text in the report.
        text: Box<str>,
    },
    /// The service did not own its name in time.
    Timeout {
        /// The time that the bus waited.
        waited: Duration,
    },
}

impl StartProblem {
    /// The reason in one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Process(_) => "process",
            Self::Unit { .. } => "unit",
            Self::Timeout { .. } => "timeout",
        }
    }

    /// The error name on the wire. The service manager may choose any name.
    pub(crate) fn error_name(&self) -> ErrorName<'_> {
        match self {
            Self::Process(failure) => failure.kind().name(),
            Self::Unit { error, .. } => ErrorName::new(error).unwrap_or(ErrorKind::Failed.name()),
            Self::Timeout { .. } => ErrorKind::TimedOut.name(),
        }
    }

    /// The text of the error about the service `name`.
    pub fn describe<'p>(&'p self, name: &'p str) -> impl fmt::Display + 'p {
        StartProblemText { problem: self, name }
    }
}

/// The text of the error about a service that did not start.
struct StartProblemText<'p> {
    problem: &'p StartProblem,
    name: &'p str,
}

impl fmt::Display for StartProblemText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.problem {
            StartProblem::Process(failure) => failure.write(name, &mut FittedText::new(f)),
            StartProblem::Unit { text, .. } => f.write_str(text),
            StartProblem::Timeout { waited } => write!(
                FittedText::new(f),
                "Failed to activate service '{name}': timed out (service_start_timeout={}ms)",
                waited.as_millis()
            ),
        }
    }
}

/// The reason why the process of a service failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartFailure {
    /// The command line of the service cannot be split into words.
    Command(ForeignError),
    /// The process could not be created.
    Fork(ForeignError),
    /// The process could not execute the program.
    Exec(ForeignError),
    /// The process exited with an error.
    Exited {
        /// The exit status of the process.
        status: i32,
    },
    /// A signal terminated the process.
    Signaled {
        /// The number of the signal.
        signal: i32,
    },
    /// The launch helper, which starts services as other users, reported an error.
    Helper(HelperFailure),
}

/// The errors that the launch helper reports by its exit status.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HelperFailure {
    /// The helper was out of memory.
    NoMemory,
    /// The configuration of the system bus cannot be read, or does not state a user.
    ConfigInvalid,
    /// The helper could not change to the user of the service, or was not installed for that.
    SetupFailed,
    /// The name is not a valid bus name.
    NameInvalid,
    /// There is no service file for the name.
    ServiceNotFound,
    /// The helper does not accept the user that has executed it.
    PermissionsInvalid,
    /// The service file lacks a required entry.
    FileInvalid,
    /// The program could not be executed.
    ExecFailed,
    /// The arguments of the helper were invalid.
    InvalidArgs,
    /// A signal terminated an intermediate process.
    ChildSignaled,
    /// Another error, or an unknown exit status.
    Other {
        /// The exit status of the helper.
        status: i32,
    },
}

impl HelperFailure {
    /// Interprets an exit status of the helper. Returns `None` if it started the service.
    #[must_use]
    pub const fn from_status(status: i32) -> Option<Self> {
        Some(match status {
            0 => return None,
            2 => Self::NoMemory,
            3 => Self::ConfigInvalid,
            4 => Self::SetupFailed,
            5 => Self::NameInvalid,
            6 => Self::ServiceNotFound,
            7 => Self::PermissionsInvalid,
            8 => Self::FileInvalid,
            9 => Self::ExecFailed,
            10 => Self::InvalidArgs,
            11 => Self::ChildSignaled,
            status => Self::Other { status },
        })
    }

    const fn kind(self) -> ErrorKind {
        match self {
            Self::NoMemory => ErrorKind::NoMemory,
            Self::ConfigInvalid => ErrorKind::SpawnConfigInvalid,
            Self::SetupFailed => ErrorKind::SpawnFailedToSetup,
            Self::NameInvalid => ErrorKind::SpawnServiceNotValid,
            Self::ServiceNotFound => ErrorKind::SpawnServiceNotFound,
            Self::PermissionsInvalid => ErrorKind::SpawnPermissionsInvalid,
            Self::FileInvalid => ErrorKind::SpawnFileInvalid,
            Self::ExecFailed => ErrorKind::SpawnExecFailed,
            Self::InvalidArgs => ErrorKind::InvalidArgs,
            Self::ChildSignaled => ErrorKind::SpawnChildSignaled,
            Self::Other { .. } => ErrorKind::SpawnChildExited,
        }
    }

    fn write(self, name: &str, f: &mut impl Write) -> fmt::Result {
        let why = match self {
            Self::NoMemory => "there is no memory left",
            Self::ConfigInvalid => "the configuration cannot be read, or names no user",
            Self::SetupFailed => "it could not switch to the user of the service",
            Self::NameInvalid => "the name is not valid",
            Self::ServiceNotFound => "there is no service file for this name",
            Self::PermissionsInvalid => "the user of this bus may not use it",
            Self::FileInvalid => "the service file is invalid or incomplete",
            Self::ExecFailed => "the program cannot be executed",
            Self::InvalidArgs => "its arguments were invalid",
            Self::ChildSignaled => "a process was killed",
            Self::Other { status } => {
                return write!(f, "The launch helper for {name} exited with status {status}");
            }
        };
        write!(f, "The launch helper did not start {name}: {why}")
    }
}

impl StartFailure {
    const fn kind(&self) -> ErrorKind {
        match self {
            Self::Command(_) => ErrorKind::InvalidArgs,
            Self::Fork(_) => ErrorKind::SpawnForkFailed,
            Self::Exec(_) => ErrorKind::SpawnExecFailed,
            Self::Exited { .. } => ErrorKind::SpawnChildExited,
            Self::Signaled { .. } => ErrorKind::SpawnChildSignaled,
            Self::Helper(failure) => failure.kind(),
        }
    }

    fn write(&self, name: &str, f: &mut impl Write) -> fmt::Result {
        match self {
            Self::Command(error) => write!(f, "{error}"),
            Self::Fork(error) => write!(f, "Failed to create a process for {name}: {error}"),
            Self::Exec(error) => write!(f, "Failed to execute program {name}: {error}"),
            Self::Exited { status } => write!(f, "Process {name} exited with status {status}"),
            Self::Signaled { signal } => write!(f, "Process {name} received signal {signal}"),
            Self::Helper(failure) => failure.write(name, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn each_exit_status_of_the_helper_has_its_error() {
        let check = |status, error: &str| {
            let failure = HelperFailure::from_status(status).expect("a failure");
            let problem = StartProblem::Process(StartFailure::Helper(failure));
            let name = problem.error_name().as_str();
            assert_eq!(name.strip_prefix("org.freedesktop.DBus.Error."), Some(error), "{status}");
            let text = problem.describe("a.Name").to_string();
            assert!(text.contains("a.Name"), "{text}");
        };
        check(1, "Spawn.ChildExited");
        check(2, "NoMemory");
        check(3, "Spawn.ConfigInvalid");
        check(4, "Spawn.FailedToSetup");
        check(5, "Spawn.ServiceNotValid");
        check(6, "Spawn.ServiceNotFound");
        check(7, "Spawn.PermissionsInvalid");
        check(8, "Spawn.FileInvalid");
        check(9, "Spawn.ExecFailed");
        check(10, "InvalidArgs");
        check(11, "Spawn.ChildSignaled");
        check(12, "Spawn.ChildExited");
        assert_eq!(HelperFailure::from_status(0), None);
    }
}
