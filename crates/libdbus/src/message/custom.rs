//! Functions that the patches of CommonAPI add to libdbus, for programs that marshal bodies
//! themselves.

use std::ffi::{c_char, c_int};
use std::ptr;

use wire::signature::Signature;

use super::{DBusMessage, code};
use crate::c::{Bool, CText, FALSE, Handle, TRUE, length};
use crate::checks::{check, given};

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_signature(message: Handle<DBusMessage>, signature: CText) -> Bool {
    let message = given!("dbus_message_set_signature", message, FALSE);
    check!("dbus_message_set_signature", !message.view().locked, "!message->locked", FALSE);
    check!(
        "dbus_message_set_signature",
        Signature::from_bytes(signature.bytes()).is_ok(),
        "signature == NULL || _dbus_check_is_valid_signature (signature)",
        FALSE
    );
    message.edit(|content| content.set_text(code::SIGNATURE, signature.get()));
    TRUE
}

/// Returns the body, which the program may change in place.
#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_body(message: Handle<DBusMessage>) -> *mut c_char {
    let message = given!("dbus_message_get_body", message, ptr::null_mut());
    message.edit(|content| content.body.as_mut_ptr().cast())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_body_length(message: Handle<DBusMessage>, len: c_int) -> Bool {
    let message = given!("dbus_message_set_body_length", message, FALSE);
    check!("dbus_message_set_body_length", len >= 0, "length >= 0", FALSE);
    message.edit(|content| content.body.resize(length(len).unwrap_or_default(), 0));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_body_length(message: Handle<DBusMessage>) -> c_int {
    let message = given!("dbus_message_get_body_length", message, 0);
    c_int::try_from(message.view().body.len()).unwrap_or(c_int::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_body_allocated(message: Handle<DBusMessage>) -> c_int {
    let message = given!("dbus_message_get_body_allocated", message, 0);
    c_int::try_from(message.view().body.capacity()).unwrap_or(c_int::MAX)
}
