//! Containers: groups of connections that belong to sandboxes, with a socket of their own.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::Details;
use super::delivery_description::printable;
use crate::well_known::CONTAINER_PATH_PREFIX;

/// The id of a container: 7 for `/org/freedesktop/DBus/Containers1/c7`. Ids are never used again.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct ContainerId(u32);

impl ContainerId {
    /// The id with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number of this id.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The object path of the container.
    #[must_use]
    pub fn path(self) -> String {
        format!("{CONTAINER_PATH_PREFIX}{}", self.0)
    }

    /// The id of the container with this object path.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let id = Self(path.strip_prefix(CONTAINER_PATH_PREFIX)?.parse().ok()?);
        (id.path() == path).then_some(id)
    }
}

/// The descriptors of a new container, as indexes into the descriptors of the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContainerDescriptors {
    /// A listening socket that the creator has opened, instead of a new one.
    pub socket: Option<u32>,
    /// The read end of a pipe. The container is stopped when all write ends are closed.
    pub lifetime: Option<u32>,
}

/// The socket of a container, on which the daemon listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContainerSocket {
    /// The path of the socket, without a terminating zero byte.
    pub path: Box<[u8]>,
    /// The server address of the socket.
    pub address: Box<str>,
    /// Facts about the process that has created the container.
    pub creator: Details,
}

/// The names of a container, for texts. Quotation marks in a name are escaped, so that a name cannot
/// imitate further fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ContainerDescription {
    /// The container that is described.
    pub id: ContainerId,
    /// The container manager, with the syntax of an interface name, such as `org.flatpak`.
    pub kind: Box<str>,
    /// The name of the container, chosen by its manager, such as the id of an application.
    pub name: Box<str>,
}

impl fmt::Display for ContainerDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = printable(self.name.as_bytes()).replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "container={} {}=\"{name}\"", self.id.path(), self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_containers_name_an_id() {
        let path = "/org/freedesktop/DBus/Containers1/c7";
        assert_eq!(ContainerId::from_path(path), Some(ContainerId::new(7)));
        assert_eq!(ContainerId::new(7).path(), path);
        for other in [
            "/",
            "/org/freedesktop/DBus/Containers1/c",
            "/org/freedesktop/DBus/Containers1/c07",
            "/org/freedesktop/DBus/Containers1/c+7",
            "/org/freedesktop/DBus/Containers1/c4294967296",
            "/org/freedesktop/DBus/Containers1/c7/x",
        ] {
            assert_eq!(ContainerId::from_path(other), None, "{other}");
        }
    }

    #[test]
    fn descriptions_have_the_format_of_log_lines() {
        let described = ContainerDescription {
            id: ContainerId::new(3),
            kind: "org.flatpak".into(),
            name: "a\nb\" uid=\"0".into(),
        };
        let path = "/org/freedesktop/DBus/Containers1/c3";
        assert_eq!(
            alloc::string::ToString::to_string(&described),
            format!("container={path} org.flatpak=\"a\u{fffd}b\\\" uid=\\\"0\"")
        );
    }
}
