//! Recognizes headers that were parsed before, apart from their numbers.

use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::ops::Range;

use super::fixed::at;
use super::{FixedHeader, InvalidMessage, Message};
use crate::body::Validator;
use crate::endian::Endian;

/// A valid header, to recognize headers that differ from it only in the serials and in the length
/// of the body. The replies of one program to another often have such headers. Comparing a header is
/// faster than parsing it.
#[derive(Clone, Debug, Default)]
pub struct KnownHeader {
    /// The header with the padding after it.
    bytes: Vec<u8>,
    /// The offset of the value of REPLY_SERIAL.
    reply_serial_at: Option<usize>,
    /// The place of the type codes in the value of SIGNATURE; empty without this field.
    types: Range<usize>,
}

/// The serials in a recognized header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderSerials {
    /// The serial of the message.
    pub serial: NonZeroU32,
    /// The serial of the call to which it replies.
    pub reply_serial: Option<NonZeroU32>,
}

impl KnownHeader {
    /// Replaces the header by the header of `message`.
    pub fn set(&mut self, message: &Message<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(message.header_bytes());
        self.reply_serial_at = message.fields.reply_serial_at;
        let types = message.signature().as_bytes();
        self.types = match types.is_empty() {
            true => 0..0,
            false => {
                let start = types.as_ptr().addr() - message.bytes().as_ptr().addr();
                start..start + types.len()
            }
        };
    }

    /// The serials in the header of `message`, if this header is the same apart from them and from
    /// the length of the body, and `message` is a whole message. [`Message::parse`] accepts it then.
    #[inline]
    pub fn recognize(&self, message: &[u8]) -> Option<HeaderSerials> {
        let header = message.get(..self.bytes.len())?;
        let start = header.first_chunk()?;
        let is_same = |part: Range<usize>| header[part.clone()] == self.bytes[part];
        if !is_same(0..at::BODY_LEN) {
            return None;
        }
        let fixed = FixedHeader::parse(start).ok()?;
        let end = header.len();
        let reply_serial = match self.reply_serial_at {
            None if is_same(at::FIELDS_LEN..end) => None,
            Some(place) if is_same(at::FIELDS_LEN..place) && is_same(place + 4..end) => {
                let number = header[place..].first_chunk()?;
                Some(NonZeroU32::new(fixed.endian.u32(*number))?)
            }
            _ => return None,
        };
        let is_whole = message.len() == fixed.message_len();
        is_whole.then_some(HeaderSerials { serial: fixed.serial, reply_serial })
    }

    /// Checks the body of a [recognized](Self::recognize) message, like [`Message::validate_body`].
    ///
    /// # Errors
    ///
    /// If a value of the body is invalid, or the body is longer than its values.
    pub fn validate_body(&self, message: &[u8]) -> Result<(), InvalidMessage> {
        let Some(endian) = self.bytes.first().and_then(|mark| Endian::from_mark(*mark)) else {
            // Without a header, nothing was recognized.
            return Ok(());
        };
        let body = Validator::new(message, endian, self.bytes.len());
        body.body_of(&self.bytes[self.types.clone()])
    }
}
