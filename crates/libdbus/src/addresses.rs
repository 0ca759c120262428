//! Addresses of servers.
//!
//! The parser accepts what libdbus accepts, which is more than the specification allows. For
//! example, the name of the transport may be empty.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use wire::hex;

use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE, copy_text};
use crate::checks::{check, given};
use crate::errors::{DBusError, LibraryFailure, names, reported};

/// One entry of an address: a transport with its keys.
#[derive(Clone, Debug)]
pub(crate) struct DBusAddressEntry {
    pub(crate) method: CString,
    keys: Vec<(CString, CString)>,
}

impl DBusAddressEntry {
    /// Returns the value of a key.
    pub(crate) fn value(&self, key: &CStr) -> Option<&CStr> {
        let found = self.keys.iter().find(|(name, _)| name.as_c_str() == key);
        found.map(|(_, value)| value.as_c_str())
    }

    /// Returns the value of a key as text for messages.
    pub(crate) fn text(&self, key: &CStr) -> Option<String> {
        self.value(key).map(|value| value.to_string_lossy().into_owned())
    }

    fn parse(text: &[u8]) -> Result<Self, LibraryFailure> {
        let colon = text.iter().position(|&byte| byte == b':');
        let colon = colon.ok_or_else(|| bad("Address does not contain a colon"))?;
        let mut keys = Vec::new();
        let mut rest = &text[colon + 1..];
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
            let (pair, behind) = rest.split_at(end);
            rest = behind.strip_prefix(b",").unwrap_or(behind);
            let equals = pair.iter().position(|&byte| byte == b'=');
            let equals = equals.filter(|&at| at > 0 && at + 1 < pair.len());
            let equals = equals
                .ok_or_else(|| bad("'=' character not found or has no value following it"))?;
            let value = unescape(&pair[equals + 1..])?;
            keys.push((c_text(&pair[..equals]), c_text(&value)));
        }
        Ok(Self { method: c_text(&text[..colon]), keys })
    }
}

/// The text up to its first 0 byte.
fn c_text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

pub(crate) fn bad(message: impl Into<Vec<u8>>) -> LibraryFailure {
    LibraryFailure::new(names::BAD_ADDRESS, message)
}

/// Parses a whole address, with entries that `;` separates.
pub(crate) fn parse(address: &CStr) -> Result<Vec<DBusAddressEntry>, LibraryFailure> {
    let text = address.to_bytes();
    if text.is_empty() {
        return Err(bad("Empty address ''"));
    }
    let text = text.strip_suffix(b";").unwrap_or(text);
    text.split(|&byte| byte == b';').map(DBusAddressEntry::parse).collect()
}

const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'\\' | b'*' | b'.')
}

pub(crate) fn escape(value: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(value.len());
    for &byte in value {
        match is_bare(byte) {
            true => escaped.push(byte),
            false => escaped.extend(format!("%{byte:02x}").bytes()),
        }
    }
    escaped
}

fn unescape(text: &[u8]) -> Result<Vec<u8>, LibraryFailure> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte == b'%' {
            let [high, low, behind @ ..] = rest else {
                return Err(bad(
                    "In D-Bus address, percent character was not followed by two hex digits",
                ));
            };
            value.push(hex::byte(*high, *low).ok_or_else(|| {
                bad("In D-Bus address, percent character was followed by characters other than \
                     hex digits")
            })?);
            rest = behind;
        } else if is_bare(byte) {
            value.push(byte);
        } else {
            let mut message = b"In D-Bus address, character '".to_vec();
            message.push(byte);
            message.extend_from_slice(b"' should have been escaped\n");
            return Err(bad(message));
        }
    }
    Ok(value)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_parse_address(
    address: CText,
    entry_result: Out<*mut *const DBusAddressEntry>,
    array_len: Out<c_int>,
    error: Out<DBusError>,
) -> Bool {
    let address = given!("dbus_parse_address", address, FALSE);
    check!("dbus_parse_address", !entry_result.is_null(), "entry != NULL", FALSE);
    check!("dbus_parse_address", !array_len.is_null(), "array_len != NULL", FALSE);
    let Some(entries) = reported(parse(address), error) else { return FALSE };
    array_len.set(c_int::try_from(entries.len()).unwrap_or(c_int::MAX));
    let pointers = entries.into_iter().map(|entry| Box::into_raw(Box::new(entry)).cast_const());
    let array: Box<[_]> = pointers.chain([ptr::null()]).collect();
    entry_result.set(Box::into_raw(array).cast());
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_address_entries_free(entries: *mut *const DBusAddressEntry) {
    if entries.is_null() {
        return;
    }
    let mut len = 0;
    loop {
        // SAFETY: the array ends with NULL.
        let entry = unsafe { entries.add(len).read() };
        len += 1;
        if entry.is_null() {
            break;
        }
        // SAFETY: `dbus_parse_address` has made the entry.
        drop(unsafe { Box::from_raw(entry.cast_mut()) });
    }
    // SAFETY: `dbus_parse_address` has made the array with this length.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(entries, len)) });
}

#[unsafe(no_mangle)]
extern "C" fn dbus_address_entry_get_method(entry: Handle<DBusAddressEntry>) -> *const c_char {
    entry.get().map_or(ptr::null(), |entry| entry.method.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_address_entry_get_value(
    entry: Handle<DBusAddressEntry>,
    key: CText,
) -> *const c_char {
    let key = given!("dbus_address_entry_get_value", key, ptr::null());
    entry.get().and_then(|entry| entry.value(key)).map_or(ptr::null(), CStr::as_ptr)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_address_escape_value(value: CText) -> *mut c_char {
    copy_text(&escape(value.bytes()))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_address_unescape_value(value: CText, error: Out<DBusError>) -> *mut c_char {
    let text = reported(unescape(value.bytes()), error);
    text.map_or(ptr::null_mut(), |text| copy_text(&text))
}
