//! The contents of a service file.

use std::fmt;

use wire::names::WellKnownName;

use crate::command::{Command, CommandError};
use crate::desktop_file::{DesktopFile, SyntaxError};

/// A service that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServiceFile {
    /// The name that the program will own (`Name`).
    pub name: String,
    /// The command that starts it (`Exec`). A line that cannot be split causes an error only when
    /// the service is started.
    pub command: Result<Command, CommandError>,
    /// The user that runs it (`User`), if the helper starts it.
    pub user: Option<String>,
    /// The unit of the service manager that it runs in (`SystemdService`).
    pub unit: Option<String>,
    /// The AppArmor label that it will have (`AssumedAppArmorLabel`).
    pub label: Option<String>,
}

impl ServiceFile {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// See [`ServiceFileError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ServiceFileError> {
        let file = DesktopFile::parse(bytes)?;
        let get = |key| file.get(GROUP, key);
        let required = |key| get(key).ok_or(ServiceFileError::Missing(key));
        // An empty value counts as absent.
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

/// The reason why a file is not a service file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServiceFileError {
    /// The file is not a desktop entry.
    Syntax(SyntaxError),
    /// The file has no group `[D-BUS Service]` with this key.
    Missing(&'static str),
    /// No program can own this name.
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
            Self::Name(name) => write!(f, "\"{name}\" is not a name that a program can own"),
        }
    }
}

impl std::error::Error for ServiceFileError {}

const GROUP: &str = "D-BUS Service";
