//! Creation of messages of each type.

use std::ffi::{CStr, c_int};
use std::ptr;

use wire::message::Flags;

use super::{DBusMessage, DBusMessageContent, HeaderValue, MessageRef, code, kind};
use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE};
use crate::checks::{check, given};
use crate::errors::{DBusError, LibraryFailure};
use crate::syntax::{is_bus_name, is_error_name, is_interface, is_member, is_path};

/// Creates a call. The names are valid.
pub(crate) fn method_call(
    destination: Option<&CStr>,
    path: &CStr,
    interface: Option<&CStr>,
    method: &CStr,
) -> MessageRef {
    let mut content = DBusMessageContent::new(kind::METHOD_CALL);
    content.set_text(code::PATH, Some(path));
    set_if_any(&mut content, code::DESTINATION, destination);
    set_if_any(&mut content, code::INTERFACE, interface);
    content.set_text(code::MEMBER, Some(method));
    MessageRef::new(content)
}

/// Creates a signal. The names are valid.
pub(crate) fn signal(path: &CStr, interface: &CStr, name: &CStr) -> MessageRef {
    let mut content = DBusMessageContent::new(kind::SIGNAL);
    content.flags = Flags::NO_REPLY_EXPECTED.bits();
    content.set_text(code::PATH, Some(path));
    content.set_text(code::INTERFACE, Some(interface));
    content.set_text(code::MEMBER, Some(name));
    MessageRef::new(content)
}

/// Creates the return of a call.
pub(crate) fn method_return(call: &DBusMessage) -> MessageRef {
    let call = call.view();
    let mut content = DBusMessageContent::new(kind::METHOD_RETURN);
    content.flags = Flags::NO_REPLY_EXPECTED.bits();
    set_if_any(&mut content, code::DESTINATION, call.text(code::SENDER));
    content.set(code::REPLY_SERIAL, HeaderValue::Number(call.serial));
    MessageRef::new(content)
}

/// Creates an error reply to a message.
pub(crate) fn error(reply_to: &DBusMessage, name: &CStr, text: Option<&[u8]>) -> MessageRef {
    let call = reply_to.view();
    error_reply(call.serial, call.text(code::SENDER), name, text)
}

/// Creates an error reply to the call with this serial.
pub(crate) fn error_reply(
    serial: u32,
    destination: Option<&CStr>,
    name: &CStr,
    text: Option<&[u8]>,
) -> MessageRef {
    let mut content = DBusMessageContent::new(kind::ERROR);
    content.flags = Flags::NO_REPLY_EXPECTED.bits();
    set_if_any(&mut content, code::DESTINATION, destination);
    content.set_text(code::ERROR_NAME, Some(name));
    content.set(code::REPLY_SERIAL, HeaderValue::Number(serial));
    if let Some(text) = text {
        content.append_string(text);
    }
    MessageRef::new(content)
}

fn set_if_any(content: &mut DBusMessageContent, code: u8, text: Option<&CStr>) {
    if let Some(text) = text {
        content.set_text(code, Some(text));
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_new(message_type: c_int) -> *const DBusMessage {
    check!(
        "dbus_message_new",
        message_type != 0,
        "message_type != DBUS_MESSAGE_TYPE_INVALID",
        ptr::null()
    );
    // The type is one byte of the header.
    MessageRef::give(Some(MessageRef::new(DBusMessageContent::new(message_type as u8))))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_new_method_call(
    destination: CText,
    path: CText,
    iface: CText,
    method: CText,
) -> *const DBusMessage {
    let none = ptr::null();
    let path = given!("dbus_message_new_method_call", path, none);
    let method = given!("dbus_message_new_method_call", method, none);
    check!(
        "dbus_message_new_method_call",
        destination.get().is_none_or(is_bus_name),
        "destination == NULL || _dbus_check_is_valid_bus_name (destination)",
        none
    );
    check!("dbus_message_new_method_call", is_path(path), "_dbus_check_is_valid_path (path)", none);
    check!(
        "dbus_message_new_method_call",
        iface.get().is_none_or(is_interface),
        "iface == NULL || _dbus_check_is_valid_interface (iface)",
        none
    );
    check!(
        "dbus_message_new_method_call",
        is_member(method),
        "_dbus_check_is_valid_member (method)",
        none
    );
    MessageRef::give(Some(method_call(destination.get(), path, iface.get(), method)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_new_method_return(
    method_call: Handle<DBusMessage>,
) -> *const DBusMessage {
    let call = given!("dbus_message_new_method_return", method_call, ptr::null());
    MessageRef::give(Some(method_return(call)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_new_signal(
    path: CText,
    iface: CText,
    name: CText,
) -> *const DBusMessage {
    let none = ptr::null();
    let path = given!("dbus_message_new_signal", path, none);
    let iface = given!("dbus_message_new_signal", iface, none);
    let name = given!("dbus_message_new_signal", name, none);
    check!("dbus_message_new_signal", is_path(path), "_dbus_check_is_valid_path (path)", none);
    check!(
        "dbus_message_new_signal",
        is_interface(iface),
        "_dbus_check_is_valid_interface (iface)",
        none
    );
    check!("dbus_message_new_signal", is_member(name), "_dbus_check_is_valid_member (name)", none);
    MessageRef::give(Some(signal(path, iface, name)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_new_error(
    reply_to: Handle<DBusMessage>,
    error_name: CText,
    error_message: CText,
) -> *const DBusMessage {
    let none = ptr::null();
    let call = given!("dbus_message_new_error", reply_to, none);
    let name = given!("dbus_message_new_error", error_name, none);
    check!(
        "dbus_message_new_error",
        is_error_name(name),
        "_dbus_check_is_valid_error_name (error_name)",
        none
    );
    MessageRef::give(Some(error(call, name, error_message.get().map(CStr::to_bytes))))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_copy(message: Handle<DBusMessage>) -> *const DBusMessage {
    let message = given!("dbus_message_copy", message, ptr::null());
    let content = message.view();
    let Ok(fds) = content.fds.iter().map(|fd| fd.try_clone()).collect() else {
        return ptr::null();
    };
    MessageRef::give(Some(MessageRef::new(DBusMessageContent {
        flags: content.flags,
        endian: content.endian,
        fields: content.fields.clone(),
        body: content.body.clone(),
        fds,
        ..DBusMessageContent::new(content.kind)
    })))
}

/// The error in an error reply: its name, and its first argument if this is a string.
pub(crate) fn error_of(message: &DBusMessage) -> Option<(&CStr, Vec<u8>)> {
    let content = message.view();
    if content.kind != kind::ERROR {
        return None;
    }
    let name = content.text(code::ERROR_NAME)?;
    // As in libdbus, an error without a text has its name as the text.
    Some((name, message.first_string().unwrap_or_else(|| name.to_bytes().to_vec())))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dbus_set_error_from_message(
    error: Out<DBusError>,
    message: Handle<DBusMessage>,
) -> Bool {
    let message = given!("dbus_set_error_from_message", message, FALSE);
    check!(
        "dbus_set_error_from_message",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        FALSE
    );
    let Some((name, text)) = error_of(message) else { return FALSE };
    error.store(name.to_bytes(), &text);
    TRUE
}

/// The failure as an error reply to `call`.
pub(crate) fn failure_reply(call: &DBusMessage, failure: &LibraryFailure) -> MessageRef {
    error(call, failure.name, Some(&failure.message))
}
