//! Why a service did not start.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use super::{BusError, ErrorKind};

/// A start of a service. None has the number of another, so a word about one that is over is told
/// from one about the next start of the same service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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

/// How a start of a service went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartProblem {
    /// A process that was started.
    Process,
    /// This unit, says the service manager.
    Unit(Box<str>),
    /// The service has not come in time.
    Timeout,
}

impl StartProblem {
    /// It in one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Unit(_) => "unit",
            Self::Timeout => "timeout",
        }
    }
}

/// Why a service did not start. Each reason has an error of its own for those who wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartFailure {
    /// The command line of the service is wrong.
    Command {
        /// What is wrong with it.
        why: String,
    },
    /// No process could be made.
    Fork {
        /// What the system said.
        why: String,
    },
    /// The process could not become the program.
    Exec {
        /// What the system said.
        why: String,
    },
    /// The process has ended, and not well.
    Exited {
        /// Its exit status.
        status: i32,
    },
    /// The process was killed.
    Signaled {
        /// By this signal.
        signal: i32,
    },
    /// The helper that starts services as other users has said why not.
    Helper(HelperFailure),
}

/// What the helper that starts services as other users says by its exit status.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HelperFailure {
    /// There was no memory left.
    NoMemory,
    /// The configuration of the system bus cannot be read, or names no user.
    ConfigInvalid,
    /// The helper could not take on the user of the service, or was not set up for that.
    SetupFailed,
    /// The name is none.
    NameInvalid,
    /// There is no service file for the name.
    ServiceNotFound,
    /// The helper does not work for the user that has called it.
    PermissionsInvalid,
    /// The service file lacks something.
    FileInvalid,
    /// The program could not be executed.
    ExecFailed,
    /// The helper was called in another way than it expects.
    InvalidArgs,
    /// A process in between was killed.
    ChildSignaled,
    /// Something else, or another exit status than these.
    Other {
        /// Which one.
        status: i32,
    },
}

impl HelperFailure {
    /// What an exit status of the helper means; `None` when it has started the service.
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

    fn text(self, name: &str) -> String {
        let why = match self {
            Self::NoMemory => "there is no memory left",
            Self::ConfigInvalid => "the configuration cannot be read, or names no user",
            Self::SetupFailed => "it could not take on the user of the service",
            Self::NameInvalid => "the name is not valid",
            Self::ServiceNotFound => "no service file is for this name",
            Self::PermissionsInvalid => "it does not work for the user of this bus",
            Self::FileInvalid => "the service file is wrong or lacks something",
            Self::ExecFailed => "the program cannot be executed",
            Self::InvalidArgs => "it was called in a way that it does not expect",
            Self::ChildSignaled => "a process was killed",
            Self::Other { status } => {
                return format!("The launch helper for {name} exited with status {status}");
            }
        };
        format!("The launch helper did not start {name}: {why}")
    }
}

impl StartFailure {
    /// The error that those who wait for `name` get.
    pub(crate) fn error(&self, name: &str) -> BusError {
        match self {
            Self::Command { why } => ErrorKind::InvalidArgs.because(why.as_str()),
            Self::Fork { why } => ErrorKind::SpawnForkFailed
                .because(format!("Failed to make a process for {name}: {why}")),
            Self::Exec { why } => ErrorKind::SpawnExecFailed
                .because(format!("Failed to execute program {name}: {why}")),
            Self::Exited { status } => ErrorKind::SpawnChildExited
                .because(format!("Process {name} exited with status {status}")),
            Self::Signaled { signal } => ErrorKind::SpawnChildSignaled
                .because(format!("Process {name} received signal {signal}")),
            Self::Helper(failure) => failure.kind().because(failure.text(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exit_status_of_the_helper_has_its_error() {
        let check = |status, error: &str| {
            let failure = HelperFailure::from_status(status).expect("a failure");
            let error_of = StartFailure::Helper(failure).error("a.Name");
            let name = error_of.kind.name().as_str();
            assert_eq!(name.strip_prefix("org.freedesktop.DBus.Error."), Some(error), "{status}");
            assert!(error_of.text.contains("a.Name"), "{}", error_of.text);
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
