//! Names of the bus driver, the object through which the bus itself is called ("Message Bus
//! Messages").

use wire::message::Builder;
use wire::names::{InterfaceName, MemberName, ObjectPath, WellKnownName};

/// Starts a call of a method of the interface `org.freedesktop.DBus`.
pub fn method(member: MemberName<'_>) -> Builder<'_> {
    Builder::method_call(PATH, member).interface(INTERFACE).destination(NAME.into())
}

/// The bus name of the driver.
pub const NAME: WellKnownName<'static> = WellKnownName::literal("org.freedesktop.DBus");
/// The object path of the driver.
pub const PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");
/// The interface that every bus implements.
pub const INTERFACE: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus");

pub(crate) const HELLO: MemberName<'static> = MemberName::literal("Hello");
pub(crate) const ADD_MATCH: MemberName<'static> = MemberName::literal("AddMatch");
pub(crate) const REMOVE_MATCH: MemberName<'static> = MemberName::literal("RemoveMatch");
pub(crate) const GET_NAME_OWNER: MemberName<'static> = MemberName::literal("GetNameOwner");
pub(crate) const GET_PROCESS_ID: MemberName<'static> =
    MemberName::literal("GetConnectionUnixProcessID");
pub(crate) const NAME_HAS_OWNER: MemberName<'static> = MemberName::literal("NameHasOwner");
pub(crate) const NAME_LOST: MemberName<'static> = MemberName::literal("NameLost");
pub(crate) const OWNER_CHANGED: MemberName<'static> = MemberName::literal("NameOwnerChanged");
pub(crate) const REQUEST_NAME: MemberName<'static> = MemberName::literal("RequestName");
pub(crate) const RELEASE_NAME: MemberName<'static> = MemberName::literal("ReleaseName");
