//! `DBusString`, a string that grows, as far as dbus-launch needs it.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::bus::user_bus;
use crate::c::{Bool, Out, TRUE, copy_text, free};
use crate::errors::DBusError;

/// The layout that macros of libdbus read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DBusString {
    text: *mut c_void,
    len: c_int,
    allocated: c_int,
    /// Bit fields, such as whether the string is constant.
    bits: u32,
}

impl DBusString {
    fn new(text: &[u8]) -> Self {
        let len = c_int::try_from(text.len()).unwrap_or_default();
        Self { text: copy_text(text).cast(), len, allocated: len + 1, bits: VALID }
    }
}

/// The third bit field of a string: it can be used.
const VALID: u32 = 1 << 2;

#[unsafe(no_mangle)]
extern "C" fn _dbus_string_init(string: Out<DBusString>) -> Bool {
    string.set(DBusString::new(b""));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_string_free(string: Out<DBusString>) {
    if let Some(content) = string.get() {
        free(content.text);
        string.set(DBusString { text: ptr::null_mut(), len: 0, allocated: 0, bits: 0 });
    }
}

/// Stores the address of the bus of this user, for `dbus-launch --autolaunch`.
#[unsafe(no_mangle)]
extern "C" fn _dbus_lookup_user_bus(
    is_supported: Out<Bool>,
    address: Out<DBusString>,
    _error: Out<DBusError>,
) -> Bool {
    let found = user_bus();
    is_supported.set(found.is_some().into());
    if let Some(found) = found {
        _dbus_string_free(address);
        address.set(DBusString::new(&found));
    }
    TRUE
}
