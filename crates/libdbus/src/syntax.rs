//! Validation of names, paths and strings.

use std::ffi::CStr;

use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};

use crate::c::{Bool, CText, FALSE, Out, TRUE};
use crate::checks::given;
use crate::errors::{DBusError, names};

pub(crate) fn is_path(text: &CStr) -> bool {
    ObjectPath::from_bytes(text.to_bytes()).is_ok()
}

pub(crate) fn is_interface(text: &CStr) -> bool {
    InterfaceName::from_bytes(text.to_bytes()).is_ok()
}

pub(crate) fn is_member(text: &CStr) -> bool {
    MemberName::from_bytes(text.to_bytes()).is_ok()
}

pub(crate) fn is_error_name(text: &CStr) -> bool {
    ErrorName::from_bytes(text.to_bytes()).is_ok()
}

pub(crate) fn is_bus_name(text: &CStr) -> bool {
    BusName::from_bytes(text.to_bytes()).is_ok()
}

fn answer(
    text: &CStr,
    what: &str,
    is_valid: impl Fn(&CStr) -> bool,
    error: Out<DBusError>,
) -> Bool {
    if is_valid(text) {
        return TRUE;
    }
    let message = match text.to_str() {
        Ok(text) => format!("{what} was not valid: '{text}'"),
        Err(_) => format!("{what} was not valid UTF-8"),
    };
    error.store(names::INVALID_ARGS.to_bytes(), message.as_bytes());
    FALSE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_path(path: CText, error: Out<DBusError>) -> Bool {
    let path = given!("dbus_validate_path", path, FALSE);
    answer(path, "Object path", is_path, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_interface(name: CText, error: Out<DBusError>) -> Bool {
    let name = given!("dbus_validate_interface", name, FALSE);
    answer(name, "Interface name", is_interface, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_member(name: CText, error: Out<DBusError>) -> Bool {
    let name = given!("dbus_validate_member", name, FALSE);
    answer(name, "Member name", is_member, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_error_name(name: CText, error: Out<DBusError>) -> Bool {
    let name = given!("dbus_validate_error_name", name, FALSE);
    answer(name, "Error name", is_error_name, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_bus_name(name: CText, error: Out<DBusError>) -> Bool {
    let name = given!("dbus_validate_bus_name", name, FALSE);
    answer(name, "Bus name", is_bus_name, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_validate_utf8(alleged_utf8: CText, error: Out<DBusError>) -> Bool {
    let text = given!("dbus_validate_utf8", alleged_utf8, FALSE);
    if text.to_str().is_ok() {
        return TRUE;
    }
    error.store(names::INVALID_ARGS.to_bytes(), b"String was not valid UTF-8");
    FALSE
}
