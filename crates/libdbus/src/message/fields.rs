//! The header fields of messages: getters, setters and comparisons.

use std::ffi::{CStr, c_char};
use std::ptr;

use super::{DBusMessage, code, kind};
use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE, copy_texts};
use crate::checks::{check, given, report};
use crate::syntax::{is_bus_name, is_error_name, is_interface, is_member, is_path};

fn get(message: &DBusMessage, code: u8) -> *const c_char {
    message.view().text(code).map_or(ptr::null(), CStr::as_ptr)
}

fn has(message: &DBusMessage, code: u8, text: CText) -> Bool {
    (message.view().text(code) == text.get()).into()
}

/// Defines the getter and the setter of a header field.
macro_rules! field {
    ($get:ident $get_name:literal, $set:ident $set_name:literal, $code:expr,
     $argument:ident, $valid:ident, $condition:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $get(message: Handle<DBusMessage>) -> *const c_char {
            let message = given!($get_name, message, ptr::null());
            get(message, $code)
        }

        #[unsafe(no_mangle)]
        extern "C" fn $set(message: Handle<DBusMessage>, $argument: CText) -> Bool {
            let message = given!($set_name, message, FALSE);
            check!($set_name, !message.view().locked, "!message->locked", FALSE);
            let text = $argument.get();
            if !text.is_none_or($valid) {
                report($set_name, $condition, file!(), line!());
                return FALSE;
            }
            message.edit(|content| content.set_text($code, text));
            TRUE
        }
    };
}

field!(
    dbus_message_get_path "dbus_message_get_path",
    dbus_message_set_path "dbus_message_set_path",
    code::PATH, object_path, is_path,
    "object_path == NULL || _dbus_check_is_valid_path (object_path)"
);
field!(
    dbus_message_get_interface "dbus_message_get_interface",
    dbus_message_set_interface "dbus_message_set_interface",
    code::INTERFACE, iface, is_interface,
    "iface == NULL || _dbus_check_is_valid_interface (iface)"
);
field!(
    dbus_message_get_member "dbus_message_get_member",
    dbus_message_set_member "dbus_message_set_member",
    code::MEMBER, member, is_member,
    "member == NULL || _dbus_check_is_valid_member (member)"
);
field!(
    dbus_message_get_error_name "dbus_message_get_error_name",
    dbus_message_set_error_name "dbus_message_set_error_name",
    code::ERROR_NAME, error_name, is_error_name,
    "error_name == NULL || _dbus_check_is_valid_error_name (error_name)"
);
field!(
    dbus_message_get_destination "dbus_message_get_destination",
    dbus_message_set_destination "dbus_message_set_destination",
    code::DESTINATION, destination, is_bus_name,
    "destination == NULL || _dbus_check_is_valid_bus_name (destination)"
);
field!(
    dbus_message_get_sender "dbus_message_get_sender",
    dbus_message_set_sender "dbus_message_set_sender",
    code::SENDER, sender, is_bus_name,
    "sender == NULL || _dbus_check_is_valid_bus_name (sender)"
);
field!(
    dbus_message_get_container_instance "dbus_message_get_container_instance",
    dbus_message_set_container_instance "dbus_message_set_container_instance",
    code::CONTAINER_INSTANCE, object_path, is_path,
    "object_path == NULL || _dbus_check_is_valid_path (object_path)"
);

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_path(message: Handle<DBusMessage>, object_path: CText) -> Bool {
    let message = given!("dbus_message_has_path", message, FALSE);
    has(message, code::PATH, object_path)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_interface(message: Handle<DBusMessage>, iface: CText) -> Bool {
    let message = given!("dbus_message_has_interface", message, FALSE);
    has(message, code::INTERFACE, iface)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_member(message: Handle<DBusMessage>, member: CText) -> Bool {
    let message = given!("dbus_message_has_member", message, FALSE);
    has(message, code::MEMBER, member)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_destination(message: Handle<DBusMessage>, name: CText) -> Bool {
    let message = given!("dbus_message_has_destination", message, FALSE);
    given!("dbus_message_has_destination", name, FALSE);
    has(message, code::DESTINATION, name)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_sender(message: Handle<DBusMessage>, name: CText) -> Bool {
    let message = given!("dbus_message_has_sender", message, FALSE);
    given!("dbus_message_has_sender", name, FALSE);
    has(message, code::SENDER, name)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_has_signature(message: Handle<DBusMessage>, signature: CText) -> Bool {
    let message = given!("dbus_message_has_signature", message, FALSE);
    let signature = given!("dbus_message_has_signature", signature, FALSE);
    (message.view().signature() == signature).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_signature(message: Handle<DBusMessage>) -> *const c_char {
    let message = given!("dbus_message_get_signature", message, ptr::null());
    message.view().signature().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_is_method_call(
    message: Handle<DBusMessage>,
    iface: CText,
    method: CText,
) -> Bool {
    let message = given!("dbus_message_is_method_call", message, FALSE);
    let iface = given!("dbus_message_is_method_call", iface, FALSE);
    let method = given!("dbus_message_is_method_call", method, FALSE);
    is(message, kind::METHOD_CALL, iface, method).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_is_signal(
    message: Handle<DBusMessage>,
    iface: CText,
    signal_name: CText,
) -> Bool {
    let message = given!("dbus_message_is_signal", message, FALSE);
    let iface = given!("dbus_message_is_signal", iface, FALSE);
    let signal_name = given!("dbus_message_is_signal", signal_name, FALSE);
    is(message, kind::SIGNAL, iface, signal_name).into()
}

/// Returns true if the message has this type and member, and this interface or none.
///
/// A call without an interface is a call of the method in any interface.
pub(crate) fn is(message: &DBusMessage, kind: u8, interface: &CStr, member: &CStr) -> bool {
    let content = message.view();
    content.kind == kind
        && content.text(code::MEMBER) == Some(member)
        && content.text(code::INTERFACE).is_none_or(|found| found == interface)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_is_error(message: Handle<DBusMessage>, error_name: CText) -> Bool {
    let message = given!("dbus_message_is_error", message, FALSE);
    let error_name = given!("dbus_message_is_error", error_name, FALSE);
    let content = message.view();
    (content.kind == kind::ERROR && content.text(code::ERROR_NAME) == Some(error_name)).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_path_decomposed(
    message: Handle<DBusMessage>,
    path: Out<*mut *mut c_char>,
) -> Bool {
    let message = given!("dbus_message_get_path_decomposed", message, FALSE);
    check!("dbus_message_get_path_decomposed", !path.is_null(), "path != NULL", FALSE);
    let Some(text) = message.view().text(code::PATH) else {
        path.set(ptr::null_mut());
        return TRUE;
    };
    let elements: Vec<&[u8]> =
        text.to_bytes().split(|&byte| byte == b'/').filter(|part| !part.is_empty()).collect();
    path.set(copy_texts(elements.into_iter()));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_contains_unix_fds(message: Handle<DBusMessage>) -> Bool {
    let message = given!("dbus_message_contains_unix_fds", message, FALSE);
    (!message.view().fds.is_empty()).into()
}
