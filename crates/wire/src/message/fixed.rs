//! The first 16 bytes of a message, which determine its length.

use core::num::NonZeroU32;

use super::{Flags, InvalidMessage, InvalidReason, MessageType};
use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};

/// The fixed part of a header, checked as far as possible without the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedHeader {
    /// The byte order of the whole message.
    pub endian: Endian,
    /// The type of the message.
    pub message_type: MessageType,
    /// The flags of the message, with unknown ones.
    pub flags: Flags,
    /// The sender's number for this message.
    pub serial: NonZeroU32,
    /// Bytes of header fields, without the padding after them.
    pub fields_len: u32,
    /// Bytes of the body.
    pub body_len: u32,
}

impl FixedHeader {
    /// Bytes of the fixed part, including the length of the array of fields.
    pub const LEN: usize = 16;

    /// Parses the fixed part.
    ///
    /// ```
    /// use diligence_wire::message::FixedHeader;
    /// let bytes = *b"l\x01\x00\x01\x04\0\0\0\x07\0\0\0\x05\0\0\0";
    /// let header = FixedHeader::parse(&bytes)?;
    /// assert_eq!(header.message_len(), 16 + 8 + 4);
    /// # Ok::<(), diligence_wire::message::InvalidMessage>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the byte order, the type, the version or the serial is invalid, or the message is too
    /// long.
    #[inline]
    pub fn parse(bytes: &[u8; Self::LEN]) -> Result<Self, InvalidMessage> {
        let [mark, kind, flags, version, b0, b1, b2, b3, s0, s1, s2, s3, f0, f1, f2, f3] = *bytes;
        let endian = Endian::from_mark(mark).ok_or(InvalidReason::ByteOrder.at(0))?;
        let message_type =
            MessageType::from_code(kind).ok_or(InvalidReason::TypeZero.at(at::TYPE))?;
        if version != PROTOCOL_VERSION {
            return Err(InvalidReason::Version.at(at::VERSION));
        }
        let serial = endian.u32([s0, s1, s2, s3]);
        let header = Self {
            endian,
            message_type,
            flags: Flags::from_bits(flags),
            serial: NonZeroU32::new(serial).ok_or(InvalidReason::SerialZero.at(at::SERIAL))?,
            fields_len: endian.u32([f0, f1, f2, f3]),
            body_len: endian.u32([b0, b1, b2, b3]),
        };
        header.check_lengths()?;
        Ok(header)
    }

    fn check_lengths(&self) -> Result<(), InvalidMessage> {
        if self.fields_len as usize > ARRAY_LEN_MAX {
            return Err(InvalidReason::FieldsTooLong.at(at::FIELDS_LEN));
        }
        if self.body_len as usize > MESSAGE_LEN_MAX || self.message_len() > MESSAGE_LEN_MAX {
            return Err(InvalidReason::TooLong.at(at::BODY_LEN));
        }
        Ok(())
    }

    /// Offset of the first byte after the header fields, without padding.
    #[inline]
    pub const fn fields_end(&self) -> usize {
        Self::LEN + self.fields_len as usize
    }

    /// Offset of the body, a multiple of 8.
    #[inline]
    pub const fn body_start(&self) -> usize {
        align(self.fields_end(), 8)
    }

    /// Bytes of the whole message.
    #[inline]
    pub const fn message_len(&self) -> usize {
        self.body_start() + self.body_len as usize
    }
}

/// The only version of the protocol.
pub(super) const PROTOCOL_VERSION: u8 = 1;

/// Offsets of the parts of the fixed header.
pub(crate) mod at {
    pub(crate) const TYPE: usize = 1;
    pub(crate) const VERSION: usize = 3;
    pub(crate) const BODY_LEN: usize = 4;
    pub(crate) const SERIAL: usize = 8;
    pub(crate) const FIELDS_LEN: usize = 12;
}
