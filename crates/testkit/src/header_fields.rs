//! Additional header fields for messages of tests.

use wire::Message;
use wire::message::FieldCode;

/// Adds a header field with this code and a string to a message.
///
/// # Panics
///
/// Panics if the bytes are not a message.
#[must_use]
pub fn with_text(bytes: &[u8], code: u8) -> Vec<u8> {
    let endian = Message::parse(bytes).expect("a message").endian();
    with_value(bytes, &[&[code, 1, b's', 0], &endian.u32_bytes(3)[..], b"new\0"].concat())
}

/// Adds the serial of a call to a message that is not a reply.
///
/// # Panics
///
/// Panics if the bytes are not a message.
#[must_use]
pub fn with_reply_serial(bytes: &[u8], serial: u32) -> Vec<u8> {
    let endian = Message::parse(bytes).expect("a message").endian();
    let code = FieldCode::ReplySerial as u8;
    with_value(bytes, &[&[code, 1, b'u', 0], &endian.u32_bytes(serial)[..]].concat())
}

/// Adds a marshaled header field to a message.
fn with_value(bytes: &[u8], field: &[u8]) -> Vec<u8> {
    let message = Message::parse(bytes).expect("a message");
    let endian = message.endian();
    let mut out = message.header_bytes().to_vec();
    out.extend_from_slice(field);
    let len = endian.u32_bytes((out.len() - 16) as u32);
    out[12..16].copy_from_slice(&len);
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend_from_slice(message.body());
    out
}
