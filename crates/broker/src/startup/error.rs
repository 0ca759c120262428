//! Why a bus does not start, or stops.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sys::inherited::InheritError;

use crate::busconfig::ConfigError;
use crate::listen::ListenError;
use crate::mediation::MediationError;
use crate::os_error::OsError;

/// Why a bus does not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunError {
    /// It did not start.
    Start(StartError),
    /// It started, and its event loop ended in an error.
    Serve(OsError),
}

/// Why a bus does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// The configuration is wrong or cannot be read.
    Config(ConfigError),
    /// A security module is to have a say, and cannot be asked.
    Mediation(MediationError),
    /// It cannot listen.
    Listen(ListenError),
    /// What was to be printed could not be written.
    Print(OsError),
    /// There is no such descriptor to print to.
    PrintTo(InheritError),
    /// There is a pid file, and the process that it names runs, or it names none.
    PidFileExists(PathBuf),
    /// The pid file cannot be written.
    PidFile {
        /// Where it was to be.
        path: PathBuf,
        /// Why.
        error: OsError,
    },
    /// The configuration names a user that nobody knows.
    UnknownUser(String),
    /// The system fails at a step of the start.
    System {
        /// The step.
        step: StartupStep,
        /// Why.
        error: OsError,
    },
}

/// A step of the start that fails only if the system does not work or forbids it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartupStep {
    /// Reading from `/dev/null` in place of standard input.
    SilenceInput,
    /// Finding out where files are.
    LocateFiles,
    /// Receiving signals.
    BlockSignals,
    /// Looking up the user to become.
    LookUpUser,
    /// Making an id for the bus.
    MakeId,
    /// Leaving the terminal.
    GoToBackground,
    /// Becoming another user.
    SwitchUser,
    /// Finding out who the bus is to the kernel.
    ReadCredentials,
    /// Making the event loop.
    MakeEventLoop,
}

impl StartError {
    /// An error of the system at `step`.
    pub(super) fn at(step: StartupStep) -> impl Fn(io::Error) -> Self {
        move |error| Self::System { step, error: error.into() }
    }

    /// An error of writing what was to be printed.
    pub(super) fn print(error: io::Error) -> Self {
        Self::Print(error.into())
    }
}

impl From<StartError> for RunError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<ConfigError> for StartError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<MediationError> for StartError {
    fn from(error: MediationError) -> Self {
        Self::Mediation(error)
    }
}

impl From<ListenError> for StartError {
    fn from(error: ListenError) -> Self {
        Self::Listen(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "Failed to start message bus: {error}"),
            Self::Serve(error) => write!(f, "The message bus stopped: {error}"),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Mediation(error) => error.fmt(f),
            Self::Listen(error) => error.fmt(f),
            Self::Print(error) => write!(f, "Writing to pipe: {error}"),
            Self::PrintTo(InheritError::NotOpen(_)) => {
                f.write_str("Writing to pipe: Bad file descriptor")
            }
            Self::PrintTo(error) => write!(f, "Writing to pipe: {error}"),
            Self::PidFileExists(path) => write!(
                f,
                "The pid file \"{}\" exists, if the message bus is not running, remove this file",
                path.display()
            ),
            Self::PidFile { path, error } => {
                write!(f, "Failed to open \"{}\": {error}", path.display())
            }
            Self::UnknownUser(name) => {
                write!(f, "Could not get UID and GID for username \"{name}\"")
            }
            Self::System { step, error } => write!(f, "Cannot {step}: {error}"),
        }
    }
}

impl fmt::Display for StartupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SilenceInput => "read from /dev/null",
            Self::LocateFiles => "find out the current folder",
            Self::BlockSignals => "receive signals",
            Self::LookUpUser => "look up the user to become",
            Self::MakeId => "get random bytes",
            Self::GoToBackground => "go to the background",
            Self::SwitchUser => "become another user",
            Self::ReadCredentials => "find out the credentials of this process",
            Self::MakeEventLoop => "make the event loop",
        })
    }
}

impl std::error::Error for RunError {}

impl std::error::Error for StartError {}
