//! Errors of the launch helper, with their exit statuses.

use std::fmt;
use std::io;
use std::path::PathBuf;

use services::{CommandError, ServiceFileError};

use crate::config::HelperConfigError;

/// Why a service is not started.
#[derive(Debug)]
pub enum LaunchFailure {
    /// There is not exactly one argument.
    Usage,
    /// The argument is not a valid bus name.
    NameInvalid,
    /// The configuration cannot be used.
    Config(HelperConfigError),
    /// The caller is neither the user that the bus runs as nor root.
    WrongCaller,
    /// The program is not installed set-user-ID root.
    NotPrivileged,
    /// There is no service file for the name.
    ServiceNotFound,
    /// The service file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The service file cannot be parsed.
    FileInvalid(PathBuf, ServiceFileError),
    /// The service file is for another name.
    Misnamed(PathBuf),
    /// The service file does not name a user.
    NoUser(PathBuf),
    /// The command line in the service file is invalid.
    Command(PathBuf, CommandError),
    /// The user of the service does not exist.
    UnknownUser(String),
    /// A system call that prepares the service process failed.
    Setup(io::Error),
    /// The program of the service cannot be executed.
    Exec(io::Error),
}

impl LaunchFailure {
    /// The exit status that the bus interprets, as in dbus-daemon's helper.
    #[must_use]
    pub const fn exit_status(&self) -> u8 {
        match self {
            Self::Config(_) => 3,
            Self::UnknownUser(_) | Self::Setup(_) => 4,
            Self::NameInvalid => 5,
            Self::ServiceNotFound => 6,
            Self::WrongCaller | Self::NotPrivileged => 7,
            Self::Unreadable(..) | Self::FileInvalid(..) | Self::Misnamed(_) | Self::NoUser(_) => 8,
            Self::Exec(_) => 9,
            Self::Usage | Self::Command(..) => 10,
        }
    }
}

impl fmt::Display for LaunchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str("expected one argument, the name of a service"),
            Self::NameInvalid => f.write_str("the argument is not a valid bus name"),
            Self::Config(error) => error.fmt(f),
            Self::WrongCaller => {
                f.write_str("only the user that the system bus runs as may start services")
            }
            Self::NotPrivileged => f.write_str("this program is not installed set-user-ID root"),
            Self::ServiceNotFound => f.write_str("there is no service file for this name"),
            Self::Unreadable(path, error) => write!(f, "\"{}\": {error}", path.display()),
            Self::FileInvalid(path, error) => write!(f, "\"{}\": {error}", path.display()),
            Self::Misnamed(path) => {
                write!(f, "\"{}\" names another service than its file name does", path.display())
            }
            Self::NoUser(path) => write!(f, "\"{}\" has no \"User=\"", path.display()),
            Self::Command(path, error) => write!(f, "\"{}\": {error}", path.display()),
            Self::UnknownUser(user) => write!(f, "there is no user \"{user}\""),
            Self::Setup(error) => error.fmt(f),
            Self::Exec(error) => write!(f, "cannot execute the program of the service: {error}"),
        }
    }
}

impl std::error::Error for LaunchFailure {}
