//! Names that the specification or systemd defines for parts of a bus.

use wire::names::{InterfaceName, ObjectPath, WellKnownName};

/// The name of the bus itself.
pub(crate) const DRIVER_NAME: WellKnownName<'static> =
    WellKnownName::literal("org.freedesktop.DBus");

/// The object path of the bus.
pub(crate) const DRIVER_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");

/// The interface with the methods and signals that every bus has.
pub(crate) const DRIVER_INTERFACE: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus");

/// The interface with the methods and signals of containers.
pub(crate) const CONTAINERS_INTERFACE: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Containers1");

/// The interface with the methods and signals of lanes.
pub(crate) const LANES_INTERFACE: InterfaceName<'static> =
    InterfaceName::literal("org.diligence.Lanes1");

/// The object path of a container, without its number.
pub(crate) const CONTAINER_PATH_PREFIX: &str = "/org/freedesktop/DBus/Containers1/c";

/// The name of the service manager.
pub(crate) const SYSTEMD: &str = "org.freedesktop.systemd1";
