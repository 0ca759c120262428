//! The array of header fields ("Header Fields").

use core::num::NonZeroU32;

use super::{FieldCode, FixedHeader, InvalidMessage, InvalidReason, MessageType};
use crate::body::Validator;
use crate::endian::{Endian, align};
use crate::names::{BusName, CheckedName, ErrorName, InterfaceName, MemberName, ObjectPath};
use crate::signature::Signature;

/// The values of the fields. Each is valid, and all required fields of the message type are
/// present.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeaderFields<'a> {
    pub(super) path: Option<ObjectPath<'a>>,
    pub(super) interface: Option<InterfaceName<'a>>,
    pub(super) member: Option<MemberName<'a>>,
    pub(super) error_name: Option<ErrorName<'a>>,
    pub(super) reply_serial: Option<NonZeroU32>,
    /// The offset of the reply serial in the message.
    pub(super) reply_serial_at: Option<usize>,
    pub(super) destination: Option<BusName<'a>>,
    pub(super) sender: Option<BusName<'a>>,
    pub(super) signature: Signature<'a>,
    pub(super) unix_fds: u32,
    /// True if the header has fields that the specification does not define.
    pub(super) unknown: bool,
    /// The bits by [`FieldCode::bit`] of the present fields.
    seen: u16,
}

impl<'a> HeaderFields<'a> {
    /// Parses the fields of the message in `bytes`, which must extend at least to its body.
    #[inline]
    pub(super) fn parse(
        &mut self,
        bytes: &'a [u8],
        fixed: &FixedHeader,
    ) -> Result<(), InvalidMessage> {
        let end = fixed.fields_end();
        let mut cursor = FieldCursor::new(&bytes[..end], fixed.endian);
        while !cursor.values.is_at_end() {
            cursor.values.align(8)?;
            self.parse_field(&mut cursor)?;
        }
        let padding = &bytes[end..fixed.body_start()];
        if let Some(index) = padding.iter().position(|&byte| byte != 0) {
            return Err(InvalidReason::PaddingNotZero.at(end + index));
        }
        self.check_required(fixed.message_type, end)
    }

    #[inline]
    fn parse_field(&mut self, cursor: &mut FieldCursor<'a>) -> Result<(), InvalidMessage> {
        let start = cursor.values.at();
        let Some(code) = cursor.known_field() else {
            return self.parse_other_field(&mut cursor.values);
        };
        if self.seen & code.bit() != 0 {
            return Err(InvalidReason::FieldDuplicate(code).at(start));
        }
        self.seen |= code.bit();
        self.parse_value(code, cursor)
    }

    /// Reads an unknown or invalid field.
    #[cold]
    fn parse_other_field(&mut self, values: &mut Validator<'a>) -> Result<(), InvalidMessage> {
        let start = values.at();
        let code = values.byte()?;
        if code == 0 {
            return Err(InvalidReason::FieldCodeZero.at(start));
        }
        let signature = values.variant_signature()?;
        if let Some(code) = FieldCode::from_code(code) {
            return Err(InvalidReason::FieldType(code).at(start));
        }
        self.unknown = true;
        values.values(signature.as_bytes(), FIELD_DEPTH)
    }

    #[inline]
    fn parse_value(
        &mut self,
        code: FieldCode,
        cursor: &mut FieldCursor<'a>,
    ) -> Result<(), InvalidMessage> {
        match code {
            FieldCode::Path => self.path = Some(cursor.path()?),
            FieldCode::Interface => self.interface = Some(cursor.interface()?),
            FieldCode::Member => self.member = Some(cursor.name(code)?),
            FieldCode::ErrorName => self.error_name = Some(cursor.name(code)?),
            FieldCode::Destination => self.destination = Some(cursor.name(code)?),
            FieldCode::Sender => self.sender = Some(cursor.name(code)?),
            FieldCode::ReplySerial => {
                self.reply_serial_at = Some(cursor.values.at());
                self.reply_serial = Some(cursor.reply_serial()?);
            }
            FieldCode::Signature => self.signature = cursor.values.signature()?,
            FieldCode::UnixFds => self.unix_fds = cursor.values.uint32()?,
        }
        Ok(())
    }

    #[inline]
    fn check_required(&self, kind: MessageType, end: usize) -> Result<(), InvalidMessage> {
        let missing = required_fields(kind) & !self.seen;
        match FieldCode::from_code(missing.trailing_zeros() as u8) {
            None => Ok(()),
            Some(field) => Err(InvalidReason::FieldMissing(field).at(end)),
        }
    }
}

/// The bits by [`FieldCode::bit`] of the fields that a message of this type requires.
const fn required_fields(kind: MessageType) -> u16 {
    use FieldCode::{ErrorName, Interface, Member, Path, ReplySerial};
    match kind {
        MessageType::MethodCall => Path.bit() | Member.bit(),
        MessageType::Signal => Path.bit() | Interface.bit() | Member.bit(),
        MessageType::MethodReturn => ReplySerial.bit(),
        MessageType::Error => ErrorName.bit() | ReplySerial.bit(),
        MessageType::Unknown(_) => 0,
    }
}

/// A cursor over the array of header fields.
struct FieldCursor<'a> {
    values: Validator<'a>,
    /// The whole array as text, from which names are cut. Most arrays happen to be UTF-8, because
    /// their lengths are small and the rest is text; checking this once costs less than checking
    /// each name.
    text: Option<&'a str>,
}

impl<'a> FieldCursor<'a> {
    #[inline]
    fn new(bytes: &'a [u8], endian: Endian) -> Self {
        Self {
            values: Validator::new(bytes, endian, FixedHeader::LEN),
            text: core::str::from_utf8(&bytes[FixedHeader::LEN..]).ok(),
        }
    }

    /// Reads the code and the type of a known field; reads nothing if it is another field.
    #[inline]
    fn known_field(&mut self) -> Option<FieldCode> {
        let [code, 1, kind, 0] = *self.values.peek()? else { return None };
        let code = FieldCode::from_code(code).filter(|code| code.type_code() == kind)?;
        self.values.take(4).ok()?;
        Some(code)
    }

    #[inline]
    fn path(&mut self) -> Result<ObjectPath<'a>, InvalidMessage> {
        let path: ObjectPath<'a> = self.name(FieldCode::Path)?;
        if path == LOCAL_PATH {
            return Err(InvalidReason::LocalPath.at(self.values.start_of(path.as_str().as_bytes())));
        }
        Ok(path)
    }

    #[inline]
    fn interface(&mut self) -> Result<InterfaceName<'a>, InvalidMessage> {
        let name: InterfaceName<'a> = self.name(FieldCode::Interface)?;
        if name == LOCAL_INTERFACE {
            return Err(
                InvalidReason::LocalInterface.at(self.values.start_of(name.as_str().as_bytes()))
            );
        }
        Ok(name)
    }

    /// Reads a string or object path and converts it to the kind of name in the field.
    #[inline]
    fn name<T: CheckedName<'a>>(&mut self, code: FieldCode) -> Result<T, InvalidMessage> {
        let bytes = self.values.terminated()?;
        let start = self.values.start_of(bytes);
        let from = start - FixedHeader::LEN;
        let text = self.text.and_then(|text| text.get(from..from + bytes.len()));
        text.map_or_else(|| T::from_bytes(bytes), T::new)
            .map_err(|error| InvalidReason::FieldName(code, error.kind).at(start + error.at))
    }

    #[inline]
    fn reply_serial(&mut self) -> Result<NonZeroU32, InvalidMessage> {
        let serial = self.values.uint32()?;
        NonZeroU32::new(serial).ok_or(InvalidReason::ReplySerialZero.at(self.values.at() - 4))
    }
}

/// One field of a valid header, as bytes: for copying a header without some fields.
pub(super) struct RawField<'a> {
    pub(super) code: u8,
    /// Offset from the start of the message.
    pub(super) start: usize,
    /// The bytes from the field's code to the end of its value, without padding.
    pub(super) bytes: &'a [u8],
}

/// The fields of a header that [`HeaderFields::parse`] has accepted.
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
        cursor.values(signature.as_bytes(), FIELD_DEPTH).ok()?;
        let field_start = core::mem::replace(&mut start, cursor.at());
        Some(RawField { code, start: field_start, bytes: &bytes[field_start..start] })
    })
}

/// The containers around the value of a field: the array, the struct `(yv)`, the variant.
pub(super) const FIELD_DEPTH: usize = 3;

pub(super) const LOCAL_INTERFACE: &str = "org.freedesktop.DBus.Local";
pub(super) const LOCAL_PATH: &str = "/org/freedesktop/DBus/Local";
