//! The values of single elements of a configuration.

use std::path::PathBuf;

use wire::address::AddressList;

use super::error::{ConfigError, ConfigErrorKind, ElementOrigin};

/// What a bus is for. It decides under which names its address is passed to services.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BusType {
    /// The programs of one user's session.
    Session,
    /// The whole system.
    System,
    /// Something of this name.
    Other(String),
}

impl BusType {
    /// What a configuration calls it.
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

/// Where the bus runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ForkMode {
    /// Where it was started.
    #[default]
    Foreground,
    /// In the background, while what was started ends.
    Background,
}

/// What becomes of the file mode mask of a bus that goes into the background.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Umask {
    /// It is set to the usual value for daemons.
    #[default]
    Reset,
    /// It stays as it was.
    Keep,
}

/// Whether the bus writes to the system's log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Syslog {
    /// It does, as well as to its standard error.
    On,
    /// It does not.
    #[default]
    Off,
}

/// A `<listen>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listen {
    /// Where it stands.
    pub origin: ElementOrigin,
    /// Its text, which may or may not be an address.
    pub text: String,
}

impl Listen {
    /// The address.
    ///
    /// # Errors
    ///
    /// The text is none.
    pub fn address(&self) -> Result<AddressList, ConfigError> {
        let list = AddressList::parse(&self.text);
        list.map_err(|error| self.origin.error(ConfigErrorKind::Address(error)))
    }
}

/// Where services are described.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ServiceDir {
    /// In this directory; absolute.
    Path(PathBuf),
    /// In the directories that are usual for a session bus.
    StandardSession,
    /// In the directories that are usual for a system bus.
    StandardSystem,
}

/// An `<associate>`: under which SELinux context a name is owned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Association {
    /// Where it stands.
    pub origin: ElementOrigin,
    /// The name, or `*`.
    pub name: String,
    /// The context.
    pub context: String,
}

/// An `<apparmor>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppArmor {
    /// Where it stands.
    pub origin: ElementOrigin,
    /// What it says.
    pub mode: AppArmorMode,
}

/// Whether AppArmor decides what peers may send, receive and own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AppArmorMode {
    /// AppArmor decides if the kernel has it enabled.
    Enabled,
    /// AppArmor never decides.
    Disabled,
    /// AppArmor decides, and the bus does not start without it.
    Required,
}
