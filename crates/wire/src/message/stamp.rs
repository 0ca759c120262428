//! Adding the sender's name to a header, which is the only change that a bus makes to a message.
//!
//! The specification requires the bus to set SENDER on every message that it forwards ("Message Bus
//! Message Routing"), and to remove unknown fields ("HeaderFiltering"). Most messages have no
//! sender and no unknown fields, so the whole header is copied and one field is appended:
//!
//! ```text
//!    fixed part | fields ...... | pad | SENDER | pad | body
//!           ^ length patched            ^ appended
//! ```
//!
//! The body is not changed and not read.

use alloc::vec::Vec;

use super::field_code::{LEN_AT, TEXT_AT};
use super::fields::raw_fields;
use super::fixed::at;
use super::{FieldCode, FixedHeader, Message};
use crate::endian::{Endian, align};
#[cfg(doc)]
use crate::limits::{FORWARDED_LEN_MAX, STAMP_LEN_MAX};
use crate::names::{BusName, ObjectPath};

/// The SENDER field of one connection, encoded once and appended to each of its messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SenderField {
    /// The field in little-endian form. In the other order only the four bytes of length differ.
    little: Vec<u8>,
}

impl SenderField {
    /// The field with the value `name`.
    pub fn new(name: BusName<'_>) -> Self {
        let text = name.as_str();
        let mut little = Vec::with_capacity(TEXT_AT + text.len() + 1);
        little.extend_from_slice(&[FieldCode::Sender as u8, 1, b's', 0]);
        // A name has at most 255 bytes.
        little.extend_from_slice(&(text.len() as u32).to_le_bytes());
        little.extend_from_slice(text.as_bytes());
        little.push(0);
        Self { little }
    }

    /// The name of the sender.
    pub fn name(&self) -> &str {
        let text = &self.little[TEXT_AT..self.little.len() - 1];
        core::str::from_utf8(text).expect("made from a name")
    }

    fn append_to(&self, out: &mut Vec<u8>, endian: Endian) {
        let start = out.len();
        out.extend_from_slice(&self.little);
        if endian == Endian::Big {
            out[start + LEN_AT..start + TEXT_AT].reverse();
        }
    }
}

impl Message<'_> {
    /// Appends this message's header to `out` with `sender` as its only SENDER, without unknown
    /// fields, and padded, so that the unchanged body can follow.
    ///
    /// The header grows by at most [`STAMP_LEN_MAX`]; a message from a
    /// [`Framer`](crate::framer::Framer) whose limit is [`FORWARDED_LEN_MAX`] or less stays within
    /// the limit of its recipients.
    pub fn stamp(&self, sender: &SenderField, out: &mut Vec<u8>) {
        let start = out.len();
        match self.fields.sender {
            None if !self.fields.unknown => {
                out.extend_from_slice(&self.bytes[..self.fixed.fields_end()]);
            }
            Some(name) if !self.fields.unknown && name == sender.name() => {
                return out.extend_from_slice(self.header_bytes());
            }
            _ => self.copy_known_fields(out),
        }
        pad(out, start);
        sender.append_to(out, self.endian());
        finish_header(self.endian(), out, start);
    }

    /// Appends the header like [`stamp`](Self::stamp), for a message without a sender.
    pub fn copy_header_filtered(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.copy_known_fields(out);
        finish_header(self.endian(), out, start);
    }

    /// The slow path: field by field, without SENDER and without unknown fields.
    #[cold]
    fn copy_known_fields(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes[..FixedHeader::LEN]);
        for field in raw_fields(self.bytes, self.endian(), self.fixed.fields_end()) {
            match FieldCode::from_code(field.code) {
                None | Some(FieldCode::Sender) => {}
                Some(_) => {
                    pad(out, start);
                    out.extend_from_slice(field.bytes);
                }
            }
        }
    }
}

/// Appends a message, or only its header, to `out` with one more field of type `o`. The caller has
/// checked that the header in `bytes` is valid and does not have this field.
///
/// # Panics
///
/// Panics if `bytes` do not start with a header.
pub fn append_with_path_field(bytes: &[u8], code: u8, path: ObjectPath<'_>, out: &mut Vec<u8>) {
    let fixed = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    let fixed = fixed.expect("a valid header");
    let (start, text) = (out.len(), path.as_str());
    out.extend_from_slice(&bytes[..fixed.fields_end()]);
    pad(out, start);
    out.extend_from_slice(&[code, 1, b'o', 0]);
    // Fields are at most 64 MiB.
    out.extend_from_slice(&fixed.endian.u32_bytes(text.len() as u32));
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    finish_header(fixed.endian, out, start);
    out.extend_from_slice(&bytes[fixed.body_start()..]);
}

/// Sets the length of the fields in the header that begins at `start`, and pads the header.
fn finish_header(endian: Endian, out: &mut Vec<u8>, start: usize) {
    // Fields are at most 64 MiB, and a sender adds less than 300 bytes.
    let fields_len = (out.len() - start - FixedHeader::LEN) as u32;
    let place = start + at::FIELDS_LEN;
    out[place..place + 4].copy_from_slice(&endian.u32_bytes(fields_len));
    pad(out, start);
}

/// Fills `out` with zeros up to a multiple of 8 bytes from `start`.
#[inline]
fn pad(out: &mut Vec<u8>, start: usize) {
    let len = out.len() - start;
    let padding = align(len, 8) - len;
    out.extend_from_slice(&[0; 8][..padding]);
}
