//! The array of header fields ("Header Fields").

use core::fmt;
use core::num::NonZeroU32;

use super::{FixedHeader, InvalidMessage, MessageType, Reason};
use crate::body::Validator;
use crate::endian::{Endian, align};
use crate::names::{BusName, ErrorName, InterfaceName, MemberName, NameError, ObjectPath};
use crate::signature::Signature;

/// The header fields that the specification knows, by the code they have on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum FieldCode {
    /// The object: `o`.
    Path = 1,
    /// The interface: `s`.
    Interface = 2,
    /// The method or signal: `s`.
    Member = 3,
    /// The error: `s`.
    ErrorName = 4,
    /// The serial of the call that is answered: `u`.
    ReplySerial = 5,
    /// To whom: `s`.
    Destination = 6,
    /// From whom: `s`.
    Sender = 7,
    /// The types of the body: `g`.
    Signature = 8,
    /// How many descriptors: `u`.
    UnixFds = 9,
}

impl FieldCode {
    /// Reads a code; `None` where the specification knows no such field.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Path,
            2 => Self::Interface,
            3 => Self::Member,
            4 => Self::ErrorName,
            5 => Self::ReplySerial,
            6 => Self::Destination,
            7 => Self::Sender,
            8 => Self::Signature,
            9 => Self::UnixFds,
            _ => return None,
        })
    }

    /// The type code of the field's value.
    #[inline]
    pub const fn type_code(self) -> u8 {
        match self {
            Self::Path => b'o',
            Self::Interface | Self::Member | Self::ErrorName | Self::Destination | Self::Sender => {
                b's'
            }
            Self::ReplySerial | Self::UnixFds => b'u',
            Self::Signature => b'g',
        }
    }

    /// The specification's name for the field.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "PATH",
            Self::Interface => "INTERFACE",
            Self::Member => "MEMBER",
            Self::ErrorName => "ERROR_NAME",
            Self::ReplySerial => "REPLY_SERIAL",
            Self::Destination => "DESTINATION",
            Self::Sender => "SENDER",
            Self::Signature => "SIGNATURE",
            Self::UnixFds => "UNIX_FDS",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for FieldCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The values of the fields, each valid in itself, and together right for the message type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields<'a> {
    pub(super) path: Option<ObjectPath<'a>>,
    pub(super) interface: Option<InterfaceName<'a>>,
    pub(super) member: Option<MemberName<'a>>,
    pub(super) error_name: Option<ErrorName<'a>>,
    pub(super) reply_serial: Option<NonZeroU32>,
    pub(super) destination: Option<BusName<'a>>,
    pub(super) sender: Option<BusName<'a>>,
    pub(super) signature: Signature<'a>,
    pub(super) unix_fds: u32,
    /// Whether there are fields that the specification does not know.
    pub(super) unknown: bool,
    /// Bits by [`FieldCode::bit`] of the fields that are there.
    seen: u16,
}

impl<'a> Fields<'a> {
    pub(super) fn parse(bytes: &'a [u8], fixed: &FixedHeader) -> Result<Self, InvalidMessage> {
        let mut fields = Self::default();
        let end = fixed.fields_end();
        let mut cursor = Validator::new(&bytes[..end], fixed.endian, FixedHeader::LEN);
        while cursor.at() < end {
            cursor.align(8)?;
            fields.parse_field(&mut cursor)?;
        }
        if bytes[end..fixed.body_start()].iter().any(|&byte| byte != 0) {
            return Err(Reason::PaddingNotZero.at(end));
        }
        fields.check_required(fixed.message_type, end)?;
        Ok(fields)
    }

    fn parse_field(&mut self, cursor: &mut Validator<'a>) -> Result<(), InvalidMessage> {
        let start = cursor.at();
        let code = cursor.byte()?;
        if code == 0 {
            return Err(Reason::FieldCodeZero.at(start));
        }
        let signature = cursor.variant_signature()?;
        let Some(code) = FieldCode::from_code(code) else {
            self.unknown = true;
            // The struct (yv) is one container, the variant another.
            return cursor.value(signature, 2);
        };
        if signature != [code.type_code()] {
            return Err(Reason::FieldType(code).at(start));
        }
        if self.seen & code.bit() != 0 {
            return Err(Reason::FieldDuplicate(code).at(start));
        }
        self.seen |= code.bit();
        self.parse_value(code, cursor)
    }

    #[inline]
    fn parse_value(
        &mut self,
        code: FieldCode,
        cursor: &mut Validator<'a>,
    ) -> Result<(), InvalidMessage> {
        match code {
            FieldCode::Path => self.path = Some(name(code, cursor, ObjectPath::from_bytes)?),
            FieldCode::Interface => {
                self.interface = Some(name(code, cursor, InterfaceName::from_bytes)?);
            }
            FieldCode::Member => self.member = Some(name(code, cursor, MemberName::from_bytes)?),
            FieldCode::ErrorName => {
                self.error_name = Some(name(code, cursor, ErrorName::from_bytes)?);
            }
            FieldCode::Destination => {
                self.destination = Some(name(code, cursor, BusName::from_bytes)?);
            }
            FieldCode::Sender => self.sender = Some(name(code, cursor, BusName::from_bytes)?),
            FieldCode::ReplySerial => {
                let serial = cursor.uint32()?;
                let zero = || Reason::ReplySerialZero.at(cursor.at() - 4);
                self.reply_serial = Some(NonZeroU32::new(serial).ok_or_else(zero)?);
            }
            FieldCode::Signature => self.signature = cursor.signature()?,
            FieldCode::UnixFds => self.unix_fds = cursor.uint32()?,
        }
        Ok(())
    }

    fn check_required(&self, kind: MessageType, end: usize) -> Result<(), InvalidMessage> {
        let required: &[FieldCode] = match kind {
            MessageType::MethodCall => &[FieldCode::Path, FieldCode::Member],
            MessageType::Signal => &[FieldCode::Path, FieldCode::Interface, FieldCode::Member],
            MessageType::MethodReturn => &[FieldCode::ReplySerial],
            MessageType::Error => &[FieldCode::ErrorName, FieldCode::ReplySerial],
            MessageType::Unknown(_) => &[],
        };
        for &field in required {
            if self.seen & field.bit() == 0 {
                return Err(Reason::FieldMissing(field).at(end));
            }
        }
        if self.interface.is_some_and(|name| name == LOCAL_INTERFACE) {
            return Err(Reason::LocalInterface.at(FixedHeader::LEN));
        }
        if self.path.is_some_and(|path| path == LOCAL_PATH) {
            return Err(Reason::LocalPath.at(FixedHeader::LEN));
        }
        Ok(())
    }
}

/// Reads a string or object path and makes it the kind of name that the field holds.
#[inline]
fn name<'a, T>(
    code: FieldCode,
    cursor: &mut Validator<'a>,
    new: impl FnOnce(&'a [u8]) -> Result<T, NameError>,
) -> Result<T, InvalidMessage> {
    let text = cursor.terminated()?;
    let start = cursor.at() - text.len() - 1;
    new(text).map_err(|error| Reason::FieldName(code, error.kind).at(start + error.at))
}

/// One field of a valid header, as bytes: for copying headers with some fields left out.
pub(super) struct RawField<'a> {
    pub(super) code: u8,
    /// From the field's code to the end of its value, without padding.
    pub(super) bytes: &'a [u8],
}

/// The fields of a header that [`Fields::parse`] has accepted.
pub(super) fn raw_fields(
    bytes: &[u8],
    endian: Endian,
    end: usize,
) -> impl Iterator<Item = RawField<'_>> {
    let mut start = FixedHeader::LEN;
    core::iter::from_fn(move || {
        start = align(start, 8);
        if start >= end {
            return None;
        }
        let mut cursor = Validator::new(&bytes[..end], endian, start);
        let code = cursor.byte().ok()?;
        let signature = cursor.variant_signature().ok()?;
        cursor.value(signature, 2).ok()?;
        let field = RawField { code, bytes: &bytes[start..cursor.at()] };
        start = cursor.at();
        Some(field)
    })
}

const LOCAL_INTERFACE: &str = "org.freedesktop.DBus.Local";
const LOCAL_PATH: &str = "/org/freedesktop/DBus/Local";
