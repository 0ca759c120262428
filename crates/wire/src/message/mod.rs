//! Messages: a parsed view, and a builder.
//!
//! [`Message::parse`] checks a whole header and returns a view whose accessors cannot fail;
//! [`Message::validate_body`] checks the body, once for all recipients. [`Builder`] writes a
//! message into the caller's buffer; [`Message::stamp`] copies a header with the sender's name
//! added, which is the only change that a bus makes.
//!
//! ```
//! use std::num::NonZeroU32;
//! use diligence_wire::message::{Builder, Message};
//! use diligence_wire::names::{InterfaceName, MemberName, ObjectPath};
//!
//! let mut bytes = Vec::new();
//! Builder::signal(
//!     ObjectPath::new("/org/example")?,
//!     InterfaceName::new("org.example.Battery")?,
//!     MemberName::new("Low")?,
//! )
//! .write(&mut bytes, NonZeroU32::MIN, &("left", 7_u32))?;
//!
//! let message = Message::parse(&bytes)?;
//! message.validate_body()?;
//! assert_eq!(message.signature().as_str(), "su");
//! assert_eq!(message.read::<(&str, u32)>()?, ("left", 7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod field_code;
mod fields;
mod fixed;
mod flags;
mod invalid;
mod known_header;
mod message_type;
mod scan;
mod stamp;
mod write_error;

use core::num::NonZeroU32;

pub use build::Builder;
pub use field_code::FieldCode;
use fields::{HeaderFields, raw_fields};
pub use fixed::FixedHeader;
pub(crate) use fixed::at;
pub use flags::Flags;
pub use invalid::{InvalidMessage, InvalidReason};
pub use known_header::{HeaderSerials, KnownHeader};
pub use message_type::MessageType;
pub use scan::{HeaderScan, ScannedField};
pub use stamp::{SenderField, append_with_path_field};
pub use write_error::WriteError;

use crate::body::{DecodeArgs, ReadError, Reader, Validator};
use crate::endian::Endian;
use crate::match_rule::MatchArgument;
use crate::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use crate::signature::{Signature, Type};

/// A view of one complete message with a valid header.
///
/// It borrows the bytes and is cheap to create; the accessors cannot fail. The body may be invalid
/// unless [`validate_body`](Self::validate_body) has succeeded.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    fixed: FixedHeader,
    fields: HeaderFields<'a>,
}

impl<'a> Message<'a> {
    /// Parses and checks the header of the message that `bytes` contain exactly.
    ///
    /// # Errors
    ///
    /// If the header is not valid, or `bytes` are shorter or longer than the message.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, InvalidMessage> {
        let start = bytes.first_chunk().ok_or(InvalidReason::Truncated.at(bytes.len()))?;
        let fixed = FixedHeader::parse(start)?;
        if bytes.len() < fixed.message_len() {
            return Err(InvalidReason::Truncated.at(bytes.len()));
        }
        if bytes.len() > fixed.message_len() {
            return Err(InvalidReason::Surplus.at(fixed.message_len()));
        }
        let mut message = Self { bytes, fixed, fields: HeaderFields::default() };
        message.fields.parse(bytes, &fixed)?;
        Ok(message)
    }

    /// The bytes of the whole message.
    #[inline]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header with the padding after it.
    #[inline]
    pub fn header_bytes(&self) -> &'a [u8] {
        &self.bytes[..self.fixed.body_start()]
    }

    /// The bytes of the body.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[self.fixed.body_start()..]
    }

    /// The byte order of header and body.
    #[inline]
    pub const fn endian(&self) -> Endian {
        self.fixed.endian
    }

    /// The type of the message.
    #[inline]
    pub const fn message_type(&self) -> MessageType {
        self.fixed.message_type
    }

    /// The flags of the message.
    #[inline]
    pub const fn flags(&self) -> Flags {
        self.fixed.flags
    }

    /// Returns true if this is a call whose recipient must reply.
    #[inline]
    pub const fn expects_reply(&self) -> bool {
        matches!(self.fixed.message_type, MessageType::MethodCall)
            && !self.fixed.flags.contains(Flags::NO_REPLY_EXPECTED)
    }

    /// The serial that the sender gave to this message.
    #[inline]
    pub const fn serial(&self) -> NonZeroU32 {
        self.fixed.serial
    }

    /// The called or emitting object. Calls and signals have it.
    #[inline]
    pub const fn path(&self) -> Option<ObjectPath<'a>> {
        self.fields.path
    }

    /// The interface of the member. Signals have it, calls may.
    #[inline]
    pub const fn interface(&self) -> Option<InterfaceName<'a>> {
        self.fields.interface
    }

    /// The name of the method or signal. Calls and signals have it.
    #[inline]
    pub const fn member(&self) -> Option<MemberName<'a>> {
        self.fields.member
    }

    /// The name of the error. Errors have it.
    #[inline]
    pub const fn error_name(&self) -> Option<ErrorName<'a>> {
        self.fields.error_name
    }

    /// The serial of the call to which this replies. Returns and errors have it.
    #[inline]
    pub const fn reply_serial(&self) -> Option<NonZeroU32> {
        self.fields.reply_serial
    }

    /// The bus name of the recipient.
    #[inline]
    pub const fn destination(&self) -> Option<BusName<'a>> {
        self.fields.destination
    }

    /// The bus name of the sender, which is reliable only if a bus has set it.
    #[inline]
    pub const fn sender(&self) -> Option<BusName<'a>> {
        self.fields.sender
    }

    /// The signature of the body.
    #[inline]
    pub const fn signature(&self) -> Signature<'a> {
        self.fields.signature
    }

    /// The number of descriptors that are sent with the message.
    #[inline]
    pub const fn unix_fds(&self) -> u32 {
        self.fields.unix_fds
    }

    /// Returns true if the header has fields that the specification does not define. Recipients
    /// must ignore them.
    #[inline]
    pub const fn has_unknown_fields(&self) -> bool {
        self.fields.unknown
    }

    /// The offset of a field in the message, if it is present: for the position in errors.
    #[cold]
    pub(crate) fn field_start(&self, code: FieldCode) -> Option<usize> {
        let mut fields = raw_fields(self.bytes, self.endian(), self.fixed.fields_end());
        fields.find(|field| field.code == code as u8).map(|field| field.start)
    }

    /// Validates the body.
    ///
    /// # Errors
    ///
    /// If the body is not exactly the values of the signature.
    pub fn validate_body(&self) -> Result<(), InvalidMessage> {
        Validator::new(self.bytes, self.endian(), self.fixed.body_start()).body(self.signature())
    }

    /// A cursor at the first value of the body.
    pub fn reader(&self) -> Reader<'a> {
        Reader::new(self.bytes, self.endian(), self.fixed.body_start())
    }

    /// Reads the body as the types of `T`.
    ///
    /// # Errors
    ///
    /// If the signature has other types, or a value is invalid.
    pub fn read<T: DecodeArgs<'a>>(&self) -> Result<T, ReadError> {
        T::decode_body(self.signature(), &mut self.reader())
    }

    /// The arguments of the body as match rules see them, one for each complete type.
    ///
    /// The iterator ends early if the body is invalid.
    pub fn args(&self) -> impl Iterator<Item = MatchArgument<'a>> + use<'a> {
        let mut reader = self.reader();
        let mut types = self.signature().types();
        core::iter::from_fn(move || {
            let rest = types.rest();
            match types.next()? {
                Type::String => reader.string().ok().map(MatchArgument::String),
                Type::ObjectPath => reader.string().ok().map(MatchArgument::ObjectPath),
                _ => reader.skip(rest).ok().map(|()| MatchArgument::Other),
            }
        })
    }
}
