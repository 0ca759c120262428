//! Builds messages from their fields.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::field_code::TEXT_AT;
use super::fields::{LOCAL_INTERFACE, LOCAL_PATH};
use super::fixed::{PROTOCOL_VERSION, at};
use super::{FieldCode, FixedHeader, Flags, MessageType, WriteError};
use crate::body::{EncodeArgs, Writer, body_signature};
use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use crate::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use crate::signature::Signature;

/// The fields of a new message; [`write`](Self::write) appends it to a buffer.
///
/// There is a constructor for each type of message, which takes the required fields of this type,
/// so that a message without them cannot be built.
#[derive(Clone, Copy, Debug)]
pub struct Builder<'a> {
    endian: Endian,
    message_type: MessageType,
    flags: Flags,
    path: Option<ObjectPath<'a>>,
    interface: Option<InterfaceName<'a>>,
    member: Option<MemberName<'a>>,
    error_name: Option<ErrorName<'a>>,
    reply_serial: Option<NonZeroU32>,
    destination: Option<BusName<'a>>,
    sender: Option<BusName<'a>>,
    unix_fds: u32,
}

impl<'a> Builder<'a> {
    /// A call of a method.
    pub const fn method_call(path: ObjectPath<'a>, member: MemberName<'a>) -> Self {
        Self { path: Some(path), member: Some(member), ..Self::empty(MessageType::MethodCall) }
    }

    /// The return of the call with serial `call`.
    pub const fn method_return(call: NonZeroU32) -> Self {
        Self { reply_serial: Some(call), ..Self::empty(MessageType::MethodReturn) }
    }

    /// The error reply to the call with serial `call`.
    pub const fn error(name: ErrorName<'a>, call: NonZeroU32) -> Self {
        Self { error_name: Some(name), reply_serial: Some(call), ..Self::empty(MessageType::Error) }
    }

    /// A signal from an object.
    pub const fn signal(
        path: ObjectPath<'a>,
        interface: InterfaceName<'a>,
        member: MemberName<'a>,
    ) -> Self {
        Self {
            path: Some(path),
            interface: Some(interface),
            member: Some(member),
            ..Self::empty(MessageType::Signal)
        }
    }

    const fn empty(message_type: MessageType) -> Self {
        Self {
            endian: Endian::NATIVE,
            message_type,
            flags: Flags::NONE,
            path: None,
            interface: None,
            member: None,
            error_name: None,
            reply_serial: None,
            destination: None,
            sender: None,
            unix_fds: 0,
        }
    }

    /// The type of the message.
    pub const fn message_type(&self) -> MessageType {
        self.message_type
    }

    /// The recipient of the message, if it is set.
    pub const fn recipient(&self) -> Option<BusName<'a>> {
        self.destination
    }

    /// The serial of the call that the message answers, if it is a reply.
    pub const fn answered_call(&self) -> Option<NonZeroU32> {
        self.reply_serial
    }

    /// The number of descriptors that are sent with the message.
    pub const fn descriptor_count(&self) -> u32 {
        self.unix_fds
    }

    /// The interface and the name of the called method or the signal, if they have been set.
    pub const fn interface_and_member(
        &self,
    ) -> (Option<InterfaceName<'a>>, Option<MemberName<'a>>) {
        (self.interface, self.member)
    }

    /// Sets the interface of the called method.
    #[must_use]
    pub const fn interface(self, interface: InterfaceName<'a>) -> Self {
        Self { interface: Some(interface), ..self }
    }

    /// Sets the recipient of the message.
    #[must_use]
    pub const fn destination(self, destination: BusName<'a>) -> Self {
        Self { destination: Some(destination), ..self }
    }

    /// Sets the sender of the message. A bus sets this itself.
    #[must_use]
    pub const fn sender(self, sender: BusName<'a>) -> Self {
        Self { sender: Some(sender), ..self }
    }

    /// Sets flags in addition to the current ones.
    #[must_use]
    pub const fn flags(self, flags: Flags) -> Self {
        Self { flags: self.flags.with(flags), ..self }
    }

    /// Sets the byte order instead of the machine's own.
    #[must_use]
    pub const fn endian(self, endian: Endian) -> Self {
        Self { endian, ..self }
    }

    /// Sets the number of descriptors that are sent with the message.
    #[must_use]
    pub const fn unix_fds(self, count: u32) -> Self {
        Self { unix_fds: count, ..self }
    }

    /// Appends the message with `args` as its body. If it fails, `out` is unchanged.
    ///
    /// # Errors
    ///
    /// If a value cannot be encoded, for example because it is too long, or if the path or the
    /// interface is one that must not be sent.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
        args: &impl EncodeArgs,
    ) -> Result<(), WriteError> {
        self.write_with(out, serial, body_signature(args)?, |writer| args.encode_args(writer))
    }

    /// Appends the message with the body that `body` writes, which must have the types `signature`.
    /// If it fails, `out` is unchanged.
    ///
    /// # Errors
    ///
    /// If a value cannot be encoded, for example because it is too long, or if the path or the
    /// interface is one that must not be sent.
    pub fn write_with(
        &self,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
        signature: Signature<'_>,
        body: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), WriteError> {
        let start = out.len();
        let written = self.write_parts(out, serial, signature, body);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn write_parts(
        &self,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
        signature: Signature<'_>,
        body: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), WriteError> {
        let start = out.len();
        let body_start = self.write_header(out, serial, signature)?;
        // The header ends at a multiple of 8, so the padding of values is the same from there.
        let mut writer = Writer::new(out, self.endian);
        body(&mut writer);
        let body_len = writer.len();
        writer.finish()?;
        let len = body_start + body_len;
        if len > MESSAGE_LEN_MAX {
            return Err(WriteError::TooLong { len });
        }
        let place = start + at::BODY_LEN;
        out[place..place + 4].copy_from_slice(&self.endian.u32_bytes(body_len as u32));
        Ok(())
    }

    /// Appends the header and the padding after it, without the length of the body, and returns its
    /// length.
    fn write_header(
        &self,
        out: &mut Vec<u8>,
        serial: NonZeroU32,
        signature: Signature<'_>,
    ) -> Result<usize, WriteError> {
        let len = self.header_len(signature)?;
        let start = out.len();
        out.resize(start + len, 0);
        let header = &mut out[start..];
        let kind = self.message_type.code();
        let first = [self.endian.mark(), kind, self.flags.bits(), PROTOCOL_VERSION];
        header[..at::BODY_LEN].copy_from_slice(&first);
        header[at::SERIAL..at::SERIAL + 4].copy_from_slice(&self.endian.u32_bytes(serial.get()));
        let mut writer = FieldWriter { header, end: FixedHeader::LEN, endian: self.endian };
        self.visit_fields(signature, &mut writer);
        let fields_len = self.endian.u32_bytes((writer.end - FixedHeader::LEN) as u32);
        header[at::FIELDS_LEN..FixedHeader::LEN].copy_from_slice(&fields_len);
        Ok(len)
    }

    /// The length of the header with the padding after it.
    fn header_len(&self, signature: Signature<'_>) -> Result<usize, WriteError> {
        // A bus ends the connection of a program that sends these.
        if self.interface.is_some_and(|name| name == LOCAL_INTERFACE) {
            return Err(WriteError::LocalInterface);
        }
        if self.path.is_some_and(|path| path == LOCAL_PATH) {
            return Err(WriteError::LocalPath);
        }
        let mut counter = FieldCounter { len: 0 };
        self.visit_fields(signature, &mut counter);
        let len = counter.len;
        // Only a path can be that long.
        match len {
            0..=ARRAY_LEN_MAX => Ok(FixedHeader::LEN + len),
            _ if len <= MESSAGE_LEN_MAX => Err(WriteError::ArrayTooLong { len }),
            _ => Err(WriteError::TooLong { len }),
        }
    }

    /// Visits the fields of the header in their order.
    #[inline]
    fn visit_fields(&self, signature: Signature<'_>, visitor: &mut impl FieldVisitor) {
        visitor.optional_text(FieldCode::Path, self.path.map(ObjectPath::as_str));
        visitor.optional_text(FieldCode::Interface, self.interface.map(InterfaceName::as_str));
        visitor.optional_text(FieldCode::Member, self.member.map(MemberName::as_str));
        visitor.optional_text(FieldCode::ErrorName, self.error_name.map(ErrorName::as_str));
        if let Some(serial) = self.reply_serial {
            visitor.number(FieldCode::ReplySerial, serial.get());
        }
        visitor.optional_text(FieldCode::Destination, self.destination.map(BusName::as_str));
        visitor.optional_text(FieldCode::Sender, self.sender.map(BusName::as_str));
        if !signature.is_empty() {
            visitor.signature(FieldCode::Signature, signature);
        }
        if self.unix_fds > 0 {
            visitor.number(FieldCode::UnixFds, self.unix_fds);
        }
    }
}

/// Visits the fields of a header. There is a method for each type of value.
trait FieldVisitor {
    /// A field of type `o` or `s`.
    fn text(&mut self, code: FieldCode, text: &str);

    /// A field of type `o` or `s` that the message may lack.
    #[inline]
    fn optional_text(&mut self, code: FieldCode, text: Option<&str>) {
        if let Some(text) = text {
            self.text(code, text);
        }
    }

    /// A field of type `u`.
    fn number(&mut self, code: FieldCode, number: u32);

    /// A field of type `g`.
    fn signature(&mut self, code: FieldCode, types: Signature<'_>);
}

/// Adds up the lengths of fields with the padding after them, in bytes.
struct FieldCounter {
    len: usize,
}

impl FieldVisitor for FieldCounter {
    #[inline]
    fn text(&mut self, _: FieldCode, text: &str) {
        self.len += align(TEXT_AT + text.len() + 1, 8);
    }

    #[inline]
    fn number(&mut self, _: FieldCode, _: u32) {
        self.len += NUMBER_FIELD_LEN;
    }

    #[inline]
    fn signature(&mut self, _: FieldCode, types: Signature<'_>) {
        self.len += align(SIGNATURE_AT + types.as_bytes().len() + 1, 8);
    }
}

/// Writes fields into a header that has room for them, and zeros after the last one.
struct FieldWriter<'h> {
    header: &'h mut [u8],
    /// The end of the last field, without padding.
    end: usize,
    endian: Endian,
}

impl FieldWriter<'_> {
    /// The next bytes for a field, which has this length.
    #[inline]
    fn field(&mut self, len: usize) -> &mut [u8] {
        let start = align(self.end, 8);
        self.end = start + len;
        &mut self.header[start..self.end]
    }

    /// The first 8 bytes of a field whose value begins with a number.
    #[inline]
    fn first_bytes(&self, code: FieldCode, number: u32) -> [u8; TEXT_AT] {
        let [a, b, c, d] = self.endian.u32_bytes(number);
        [code as u8, 1, code.type_code(), 0, a, b, c, d]
    }
}

impl FieldVisitor for FieldWriter<'_> {
    #[inline]
    fn text(&mut self, code: FieldCode, text: &str) {
        // The length of all fields was checked.
        let first = self.first_bytes(code, text.len() as u32);
        let field = self.field(TEXT_AT + text.len() + 1);
        field[..TEXT_AT].copy_from_slice(&first);
        field[TEXT_AT..TEXT_AT + text.len()].copy_from_slice(text.as_bytes());
    }

    #[inline]
    fn number(&mut self, code: FieldCode, number: u32) {
        let bytes = self.first_bytes(code, number);
        self.field(NUMBER_FIELD_LEN).copy_from_slice(&bytes);
    }

    #[inline]
    fn signature(&mut self, code: FieldCode, types: Signature<'_>) {
        let codes = types.as_bytes();
        let field = self.field(SIGNATURE_AT + codes.len() + 1);
        field[..SIGNATURE_AT].copy_from_slice(&[
            code as u8,
            1,
            code.type_code(),
            0,
            codes.len() as u8,
        ]);
        field[SIGNATURE_AT..SIGNATURE_AT + codes.len()].copy_from_slice(codes);
    }
}

/// The length of a field of type `u`, in bytes.
const NUMBER_FIELD_LEN: usize = 8;

/// The offset of the type codes in a field of type `g`.
const SIGNATURE_AT: usize = 5;
