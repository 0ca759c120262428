//! Builds messages from their fields.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::field_code::{LEN_AT, TEXT_AT};
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
    /// If a value cannot be encoded, for example because it is too long.
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
    /// If a value cannot be encoded, for example because it is too long.
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
        self.each_field(signature, |code, value| writer.add(code, value));
        let fields_len = self.endian.u32_bytes((writer.end - FixedHeader::LEN) as u32);
        header[at::FIELDS_LEN..FixedHeader::LEN].copy_from_slice(&fields_len);
        Ok(len)
    }

    /// The length of the header with the padding after it.
    fn header_len(&self, signature: Signature<'_>) -> Result<usize, WriteError> {
        let mut len = 0;
        self.each_field(signature, |_, value| len += align(value.end(), 8));
        // Only a path can be that long.
        match len {
            0..=ARRAY_LEN_MAX => Ok(FixedHeader::LEN + len),
            _ if len <= MESSAGE_LEN_MAX => Err(WriteError::ArrayTooLong { len }),
            _ => Err(WriteError::TooLong { len }),
        }
    }

    /// Calls a function with each field of the header, in their order.
    #[inline]
    fn each_field(
        &self,
        signature: Signature<'_>,
        mut call: impl FnMut(FieldCode, FieldValue<'_>),
    ) {
        let mut each = |code, value: Option<FieldValue<'_>>| {
            if let Some(value) = value {
                call(code, value);
            }
        };
        let text = FieldValue::Text;
        each(FieldCode::Path, self.path.map(|path| text(path.as_str())));
        each(FieldCode::Interface, self.interface.map(|interface| text(interface.as_str())));
        each(FieldCode::Member, self.member.map(|member| text(member.as_str())));
        each(FieldCode::ErrorName, self.error_name.map(|error| text(error.as_str())));
        each(FieldCode::ReplySerial, self.reply_serial.map(|it| FieldValue::Number(it.get())));
        each(FieldCode::Destination, self.destination.map(|name| text(name.as_str())));
        each(FieldCode::Sender, self.sender.map(|name| text(name.as_str())));
        let signature = Some(signature).filter(|types| !types.is_empty());
        each(FieldCode::Signature, signature.map(FieldValue::Signature));
        let fds = Some(self.unix_fds).filter(|&count| count > 0);
        each(FieldCode::UnixFds, fds.map(FieldValue::Number));
    }
}

/// The value of a header field.
#[derive(Clone, Copy)]
enum FieldValue<'a> {
    Text(&'a str),
    Number(u32),
    Signature(Signature<'a>),
}

impl FieldValue<'_> {
    /// The offset of the end of the value in its field.
    const fn end(self) -> usize {
        match self {
            Self::Text(text) => TEXT_AT + text.len() + 1,
            Self::Number(_) => VALUE_AT + 4,
            Self::Signature(types) => SIGNATURE_AT + types.as_bytes().len() + 1,
        }
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
    fn add(&mut self, code: FieldCode, value: FieldValue<'_>) {
        let start = align(self.end, 8);
        self.end = start + value.end();
        let field = &mut self.header[start..self.end];
        field[..VALUE_AT].copy_from_slice(&[code as u8, 1, code.type_code(), 0]);
        match value {
            FieldValue::Text(text) => {
                // The length of all fields was checked.
                let len = self.endian.u32_bytes(text.len() as u32);
                field[LEN_AT..TEXT_AT].copy_from_slice(&len);
                field[TEXT_AT..TEXT_AT + text.len()].copy_from_slice(text.as_bytes());
            }
            FieldValue::Number(number) => {
                field[VALUE_AT..].copy_from_slice(&self.endian.u32_bytes(number));
            }
            FieldValue::Signature(types) => {
                let codes = types.as_bytes();
                field[VALUE_AT] = codes.len() as u8;
                field[SIGNATURE_AT..SIGNATURE_AT + codes.len()].copy_from_slice(codes);
            }
        }
    }
}

/// The offset of the value in a field.
const VALUE_AT: usize = 4;

/// The offset of the type codes in a field of type `g`.
const SIGNATURE_AT: usize = 5;
