//! A function of dbus-daemon for messages, which its tests use.

use crate::c::{Bool, FALSE, Handle, TRUE};
use crate::checks::given;
use crate::message::{DBusMessage, HeaderValue};

/// Removes all header fields that the specification does not define.
#[unsafe(no_mangle)]
extern "C" fn _dbus_message_remove_unknown_fields(message: Handle<DBusMessage>) -> Bool {
    let message = given!("_dbus_message_remove_unknown_fields", message, FALSE);
    let is_known = |value: &HeaderValue| !matches!(value, HeaderValue::Unknown(_));
    message.edit(|content| content.fields.retain(|field| is_known(&field.value)));
    TRUE
}
