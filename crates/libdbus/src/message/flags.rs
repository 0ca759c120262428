//! Flags and serials of messages, and the texts of message types.

use std::ffi::{CStr, c_char, c_int};

use wire::message::Flags;

use super::{DBusMessage, HeaderValue, code};
use crate::c::{Bool, CText, FALSE, Handle, TRUE};
use crate::checks::{check, given};

fn set(message: &DBusMessage, flag: Flags, on: bool) {
    let bits = flag.bits();
    message.edit(|content| match on {
        true => content.flags |= bits,
        false => content.flags &= !bits,
    });
}

fn has(message: &DBusMessage, flag: Flags) -> bool {
    Flags::from_bits(message.view().flags).contains(flag)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_no_reply(message: Handle<DBusMessage>, no_reply: Bool) {
    let message = given!("dbus_message_set_no_reply", message);
    check!("dbus_message_set_no_reply", !message.view().locked, "!message->locked");
    set(message, Flags::NO_REPLY_EXPECTED, no_reply != FALSE);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_no_reply(message: Handle<DBusMessage>) -> Bool {
    let message = given!("dbus_message_get_no_reply", message, FALSE);
    has(message, Flags::NO_REPLY_EXPECTED).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_auto_start(message: Handle<DBusMessage>, auto_start: Bool) {
    let message = given!("dbus_message_set_auto_start", message);
    check!("dbus_message_set_auto_start", !message.view().locked, "!message->locked");
    set(message, Flags::NO_AUTO_START, auto_start == FALSE);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_auto_start(message: Handle<DBusMessage>) -> Bool {
    let message = given!("dbus_message_get_auto_start", message, FALSE);
    (!has(message, Flags::NO_AUTO_START)).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_allow_interactive_authorization(
    message: Handle<DBusMessage>,
    allow: Bool,
) {
    let message = given!("dbus_message_set_allow_interactive_authorization", message);
    check!(
        "dbus_message_set_allow_interactive_authorization",
        !message.view().locked,
        "!message->locked",
    );
    set(message, Flags::ALLOW_INTERACTIVE_AUTHORIZATION, allow != FALSE);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_allow_interactive_authorization(
    message: Handle<DBusMessage>,
) -> Bool {
    let message = given!("dbus_message_get_allow_interactive_authorization", message, FALSE);
    has(message, Flags::ALLOW_INTERACTIVE_AUTHORIZATION).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_serial(message: Handle<DBusMessage>) -> u32 {
    let message = given!("dbus_message_get_serial", message, 0);
    message.view().serial
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_serial(message: Handle<DBusMessage>, serial: u32) {
    let message = given!("dbus_message_set_serial", message);
    check!("dbus_message_set_serial", !message.view().locked, "!message->locked");
    message.edit(|content| content.serial = serial);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_reply_serial(message: Handle<DBusMessage>) -> u32 {
    let message = given!("dbus_message_get_reply_serial", message, 0);
    message.view().reply_serial()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_reply_serial(
    message: Handle<DBusMessage>,
    reply_serial: u32,
) -> Bool {
    let message = given!("dbus_message_set_reply_serial", message, FALSE);
    check!("dbus_message_set_reply_serial", !message.view().locked, "!message->locked", FALSE);
    check!("dbus_message_set_reply_serial", reply_serial != 0, "reply_serial != 0", FALSE);
    message.edit(|content| content.set(code::REPLY_SERIAL, HeaderValue::Number(reply_serial)));
    TRUE
}

/// The texts of message types, in the order of their codes.
const TYPE_TEXTS: [&CStr; 5] = [c"invalid", c"method_call", c"method_return", c"error", c"signal"];

#[unsafe(no_mangle)]
extern "C" fn dbus_message_type_from_string(type_str: CText) -> c_int {
    let text = given!("dbus_message_type_from_string", type_str, 0);
    let found = TYPE_TEXTS.iter().position(|known| *known == text).unwrap_or_default();
    c_int::try_from(found).unwrap_or_default()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_type_to_string(message_type: c_int) -> *const c_char {
    let index = usize::try_from(message_type).unwrap_or_default();
    TYPE_TEXTS.get(index).unwrap_or(&c"invalid").as_ptr()
}
