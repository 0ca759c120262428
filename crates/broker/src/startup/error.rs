//! Errors that keep a bus from starting or make it stop.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sys::inherited::InheritError;

use crate::busconfig::ConfigError;
use crate::listen::ListenError;
use crate::mediation::MediationError;
use crate::os_error::OsError;
use crate::saved_state::STATE_ERROR_PREFIX;

/// Why a bus does not start or stopped with an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunError {
    /// The bus did not start.
    Start(StartError),
    /// The bus started, and its event loop failed.
    Serve(OsError),
}

/// Why a bus does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// The configuration is invalid or cannot be read.
    Config(ConfigError),
    /// A security module that must mediate cannot be used.
    Mediation(MediationError),
    /// The bus cannot listen at one of its addresses.
    Listen(ListenError),
    /// The address or process id could not be written to its descriptor.
    Print(OsError),
    /// The descriptor to print to does not exist or cannot be used.
    PrintTo(InheritError),
    /// The pid file exists, and its process runs or it contains no process id.
    PidFileExists(PathBuf),
    /// The pid file cannot be written.
    PidFile {
        /// The path of the pid file.
        path: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The state of the bus that this program was executed to continue cannot be restored.
    State {
        /// The reason, for people.
        reason: String,
    },
    /// The configuration names a user that does not exist.
    UnknownUser(String),
    /// A system operation failed during the start.
    System {
        /// The step that failed.
        step: StartupStep,
        /// The error of the system.
        error: OsError,
    },
}

/// A step of the start that fails only if the system lacks resources or forbids it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartupStep {
    /// Replacing standard input by `/dev/null`.
    SilenceInput,
    /// Determining the current directory.
    LocateFiles,
    /// Blocking signals to receive them in the event loop.
    BlockSignals,
    /// Looking up the user to switch to.
    LookUpUser,
    /// Creating the id of the bus.
    MakeId,
    /// Forking to the background.
    GoToBackground,
    /// Switching to another user.
    SwitchUser,
    /// Reading the credentials of this process.
    ReadCredentials,
    /// Creating the event loop.
    MakeEventLoop,
}

impl StartError {
    /// Converts an I/O error at `step` into a start error.
    pub(super) fn at(step: StartupStep) -> impl Fn(io::Error) -> Self {
        move |error| Self::System { step, error: error.into() }
    }

    /// Converts an error of printing the address or process id.
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
            Self::State { reason } => write!(f, "{STATE_ERROR_PREFIX}{reason}"),
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
            Self::LocateFiles => "determine the current directory",
            Self::BlockSignals => "receive signals",
            Self::LookUpUser => "look up the user to become",
            Self::MakeId => "get random bytes",
            Self::GoToBackground => "go to the background",
            Self::SwitchUser => "switch to another user",
            Self::ReadCredentials => "read the credentials of this process",
            Self::MakeEventLoop => "create the event loop",
        })
    }
}

impl std::error::Error for RunError {}

impl std::error::Error for StartError {}
