//! What a service file says.

use std::fmt;

use wire::names::WellKnownName;

use crate::command::{Command, CommandError};
use crate::desktop_file::{DesktopFile, SyntaxError};

/// A service that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceFile {
    /// The name that the program will own (`Name`).
    pub name: String,
    /// How to start it (`Exec`). A line that cannot be split is an error only for who starts it.
    pub command: Result<Command, CommandError>,
    /// As whom it runs (`User`), if the helper starts it.
    pub user: Option<String>,
    /// The unit of the service manager that it runs in (`SystemdService`).
    pub unit: Option<String>,
    /// The AppArmor label that it will have (`AssumedAppArmorLabel`).
    pub label: Option<String>,
}

impl ServiceFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// See [`ServiceFileError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ServiceFileError> {
        let file = DesktopFile::parse(bytes)?;
        let get = |key| file.get(GROUP, key);
        let required = |key| get(key).ok_or(ServiceFileError::Missing(key));
        // An empty value says nothing.
        let optional = |key| get(key).filter(|value| !value.is_empty()).map(str::to_owned);
        let name = required("Name")?;
        let command = Command::split(required("Exec")?);
        if WellKnownName::new(name).is_err() {
            return Err(ServiceFileError::Name(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            command,
            user: optional("User"),
            unit: optional("SystemdService"),
            label: optional("AssumedAppArmorLabel"),
        })
    }
}

/// Why a file is no service file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServiceFileError {
    /// It is no desktop entry.
    Syntax(SyntaxError),
    /// It has no `[D-BUS Service]` with this key in it.
    Missing(&'static str),
    /// This name is none that a program can own.
    Name(String),
}

impl From<SyntaxError> for ServiceFileError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(error)
    }
}

impl fmt::Display for ServiceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Missing(key) => write!(f, "there is no \"{key}=\" in a group \"[{GROUP}]\""),
            Self::Name(name) => write!(f, "\"{name}\" is no name that a program can own"),
        }
    }
}

impl std::error::Error for ServiceFileError {}

const GROUP: &str = "D-BUS Service";
