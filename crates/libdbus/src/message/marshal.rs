//! Marshaling of messages to bytes.

use std::ffi::{c_char, c_int};

use super::{DBusMessage, DBusMessageContent, HeaderField, HeaderValue, code};
use crate::c::{self, Bool, FALSE, Handle, Out, TRUE};
use crate::checks::{check, given};

impl DBusMessageContent {
    /// The header of the message with the padding after it.
    pub(crate) fn header(&self) -> Vec<u8> {
        self.header_with(None)
    }

    /// Like [`header`](Self::header), but with this field instead of the one with the same code.
    pub(crate) fn header_with(&self, other: Option<&HeaderField>) -> Vec<u8> {
        let body_len = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(&[self.endian.mark(), self.kind, self.flags, PROTOCOL_VERSION]);
        out.extend_from_slice(&self.endian.u32_bytes(body_len));
        out.extend_from_slice(&self.endian.u32_bytes(self.serial));
        out.extend_from_slice(&[0; 4]);
        let replaced = other.map(|field| field.code);
        let kept = self.fields.iter().filter(|field| Some(field.code) != replaced);
        for field in kept.chain(other) {
            pad(&mut out, 8);
            self.write_field(field, &mut out);
        }
        let fields_len = u32::try_from(out.len() - FIELDS_START).unwrap_or(u32::MAX);
        out[FIELDS_START - 4..FIELDS_START].copy_from_slice(&self.endian.u32_bytes(fields_len));
        pad(&mut out, 8);
        out
    }

    /// The bytes of the whole message.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    fn write_field(&self, field: &HeaderField, out: &mut Vec<u8>) {
        let type_code = match field.code {
            code::PATH | code::CONTAINER_INSTANCE => b'o',
            code::SIGNATURE => b'g',
            code::REPLY_SERIAL | code::UNIX_FDS => b'u',
            _ => b's',
        };
        match &field.value {
            HeaderValue::Unknown(bytes) => return out.extend_from_slice(bytes),
            _ => out.extend_from_slice(&[field.code, 1, type_code, 0]),
        }
        match &field.value {
            HeaderValue::Text(text) => {
                let len = text.count_bytes();
                match type_code {
                    // A signature has at most 255 bytes.
                    b'g' => out.push(len as u8),
                    _ => out.extend_from_slice(&self.endian.u32_bytes(len as u32)),
                }
                out.extend_from_slice(text.to_bytes_with_nul());
            }
            HeaderValue::Number(number) => {
                out.extend_from_slice(&self.endian.u32_bytes(*number));
            }
            HeaderValue::Unknown(_) => {}
        }
    }
}

/// Fills `out` with zeros up to a multiple of `alignment`.
pub(super) fn pad(out: &mut Vec<u8>, alignment: usize) {
    out.resize(out.len().next_multiple_of(alignment), 0);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_marshal(
    message: Handle<DBusMessage>,
    marshalled_data_p: Out<*mut c_char>,
    len_p: Out<c_int>,
) -> Bool {
    let message = given!("dbus_message_marshal", message, FALSE);
    check!(
        "dbus_message_marshal",
        !marshalled_data_p.is_null(),
        "marshalled_data_p != NULL",
        FALSE
    );
    check!("dbus_message_marshal", !len_p.is_null(), "len_p != NULL", FALSE);
    let content = message.view();
    let bytes = content.to_bytes();
    let Ok(len) = c_int::try_from(bytes.len()) else { return FALSE };
    marshalled_data_p.set(c::copy_text(&bytes));
    len_p.set(len);
    TRUE
}

/// The only version of the protocol.
const PROTOCOL_VERSION: u8 = 1;

/// The offset of the first header field.
const FIELDS_START: usize = 16;
