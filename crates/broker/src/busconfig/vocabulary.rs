//! Values of individual configuration elements.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wire::address::AddressList;

use super::error::{ConfigError, ConfigErrorKind, ElementOrigin, Position};

/// The kind of a bus. It decides which environment variables pass its address to services.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BusType {
    /// The bus of one user session.
    Session,
    /// The bus of the whole system.
    System,
    /// A bus of another kind, with this name.
    Other(String),
}

impl BusType {
    /// The value of `<type>` for this kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Session => "session",
            Self::System => "system",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for BusType {
    fn from(name: String) -> Self {
        match name.as_str() {
            "session" => Self::Session,
            "system" => Self::System,
            _ => Self::Other(name),
        }
    }
}

/// Whether the bus goes to the background.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ForkMode {
    /// The bus stays in the process that was started.
    #[default]
    Foreground,
    /// The bus continues in the background, and the started process exits.
    Background,
}

/// What happens to the umask of a bus that goes to the background.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Umask {
    /// It is set to the usual value for daemons.
    #[default]
    Reset,
    /// It stays as it was.
    Keep,
}

/// Whether the bus writes to the system log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Syslog {
    /// The bus writes to the system log and to standard error.
    On,
    /// The bus does not write to the system log.
    #[default]
    Off,
}

/// A `<listen>` element with its unparsed address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listen {
    /// The position of the element.
    pub origin: ElementOrigin,
    /// The text of the element, which may be invalid.
    pub text: String,
}

impl Listen {
    /// Parses the address list of the element.
    ///
    /// # Errors
    ///
    /// The text is not a valid address list.
    pub fn address(&self) -> Result<AddressList, ConfigError> {
        let list = AddressList::parse(&self.text);
        list.map_err(|error| self.origin.error(ConfigErrorKind::Address(error)))
    }
}

/// A location of service files.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ServiceDir {
    /// This directory, as an absolute path.
    Path(#[serde(with = "services::saved_path")] PathBuf),
    /// The standard directories of a session bus.
    StandardSession,
    /// The standard directories of a system bus.
    StandardSystem,
}

/// An `<associate>`: the SELinux context in which a name is owned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Association {
    /// The position of the element.
    pub origin: ElementOrigin,
    /// The well-known name, or `*`.
    pub name: String,
    /// The SELinux context of the name.
    pub context: String,
}

/// An `<apparmor>` element with its mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppArmor {
    /// The position of the element.
    pub origin: ElementOrigin,
    /// The configured mode of mediation.
    pub mode: AppArmorMode,
}

impl AppArmor {
    /// An element of a restored configuration, whose file is not known any more.
    pub(crate) fn restored(mode: AppArmorMode) -> Self {
        Self {
            origin: ElementOrigin { file: Path::new("").into(), position: Position::START },
            mode,
        }
    }
}

/// Whether AppArmor mediates sending, receiving and owning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AppArmorMode {
    /// AppArmor decides if the kernel has it enabled.
    Enabled,
    /// AppArmor does not decide.
    Disabled,
    /// AppArmor decides, and the bus does not start without it.
    Required,
}
