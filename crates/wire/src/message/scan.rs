//! Reads header fields one after the other without validating names: for recordings, and for
//! headers that were valid when the bus read them.

use super::{FieldCode, FixedHeader, InvalidMessage};
use crate::body::Validator;

/// The fields of a header, one after the other, without a look at the names in them.
///
/// A recorded message may be cut short, and most of its names occur thousands of times. So a reader of
/// recordings checks each name once, and uses what is left of a cut header. The bus scans headers
/// of messages that it could not deliver. A message that is passed on must be
/// [parsed](crate::Message::parse).
///
/// ```
/// # use std::num::NonZeroU32;
/// use diligence_wire::message::{Builder, FieldCode, FixedHeader, HeaderScan, ScannedField};
/// # use diligence_wire::names::{InterfaceName, MemberName, ObjectPath};
/// # let mut bytes = Vec::new();
/// # Builder::signal(ObjectPath::new("/")?, InterfaceName::new("a.b")?, MemberName::new("Low")?)
/// #     .write(&mut bytes, NonZeroU32::MIN, &())?;
/// let fixed = FixedHeader::parse(bytes.first_chunk().expect("a whole header"))?;
/// let mut members = Vec::new();
/// HeaderScan::new(&bytes, &fixed).each(|field| {
///     members.extend(match field {
///         ScannedField::Text(FieldCode::Member, name) => Some(name.to_vec()),
///         _ => None,
///     });
///     Ok(())
/// })?;
/// assert_eq!(members, [b"Low"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeaderScan<'a> {
    values: Validator<'a>,
}

/// One field of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScannedField<'a> {
    /// A name, an object path or the signature, as bytes that were not validated.
    Text(FieldCode, &'a [u8]),
    /// The number in REPLY_SERIAL or UNIX_FDS.
    Number(FieldCode, u32),
    /// A field that the specification does not define, with its code.
    Unknown(u8),
}

impl<'a> HeaderScan<'a> {
    /// The fields of the message that begins with `bytes`, which may be shorter than its header.
    #[inline]
    pub fn new(bytes: &'a [u8], fixed: &FixedHeader) -> Self {
        let end = fixed.fields_end().min(bytes.len());
        let start = FixedHeader::LEN.min(end);
        Self { values: Validator::new(&bytes[..end], fixed.endian, start) }
    }

    /// Calls a function with each field.
    ///
    /// # Errors
    ///
    /// If a field cannot be read, or the function fails: the first error.
    // An iterator would return each field through memory, which took a quarter of the time of
    // opening a recording.
    #[inline]
    pub fn each(
        mut self,
        mut take: impl FnMut(ScannedField<'a>) -> Result<(), InvalidMessage>,
    ) -> Result<(), InvalidMessage> {
        while !self.values.is_at_end() {
            take(self.field()?)?;
        }
        Ok(())
    }

    #[inline]
    fn field(&mut self) -> Result<ScannedField<'a>, InvalidMessage> {
        self.values.align(8)?;
        let known = match self.values.peek::<4>() {
            Some(&[code, 1, kind, 0]) => {
                FieldCode::from_code(code).filter(|code| code.type_code() == kind)
            }
            _ => None,
        };
        let Some(code) = known else { return self.unknown_field() };
        self.values.take(4)?;
        Ok(match code.type_code() {
            b'u' => ScannedField::Number(code, self.values.uint32()?),
            b'g' => ScannedField::Text(code, self.values.signature()?.as_str().as_bytes()),
            _ => ScannedField::Text(code, self.values.terminated()?),
        })
    }

    #[cold]
    fn unknown_field(&mut self) -> Result<ScannedField<'a>, InvalidMessage> {
        let at = self.values.at();
        let code = self.values.byte()?;
        let signature = self.values.variant_signature()?;
        if let Some(code) = FieldCode::from_code(code) {
            return Err(super::InvalidReason::FieldType(code).at(at));
        }
        self.values.values(signature.as_bytes(), super::fields::FIELD_DEPTH)?;
        Ok(ScannedField::Unknown(code))
    }
}
