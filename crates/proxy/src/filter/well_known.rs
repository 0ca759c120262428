//! Names from the specification.

use wire::names::{ErrorName, InterfaceName, MemberName, ObjectPath};

/// The name of the bus itself, which is also the name of its interface.
pub(super) const BUS_NAME: &str = "org.freedesktop.DBus";

/// The interface of the bus.
pub(super) const BUS_INTERFACE: InterfaceName<'_> = InterfaceName::literal(BUS_NAME);

/// The path of the object of the bus.
pub(super) const BUS_PATH: ObjectPath<'_> = ObjectPath::literal("/org/freedesktop/DBus");

/// The interface of introspection data, which each object may have.
pub(super) const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";

/// The interface with the method that only causes a reply.
pub(super) const PEER: InterfaceName<'_> = InterfaceName::literal("org.freedesktop.DBus.Peer");

/// The method that only causes a reply.
pub(super) const PING: MemberName<'_> = MemberName::literal("Ping");

/// The error of a visible recipient or name.
pub(super) const ACCESS_DENIED: ErrorName<'_> =
    ErrorName::literal("org.freedesktop.DBus.Error.AccessDenied");

/// The error of a name without an owner.
pub(super) const NAME_HAS_NO_OWNER: ErrorName<'_> =
    ErrorName::literal("org.freedesktop.DBus.Error.NameHasNoOwner");

/// The error of a name that the bus cannot start a service for.
pub(super) const SERVICE_UNKNOWN: ErrorName<'_> =
    ErrorName::literal("org.freedesktop.DBus.Error.ServiceUnknown");
