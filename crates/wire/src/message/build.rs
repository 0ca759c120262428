//! Builds messages from their fields.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::fixed::{PROTOCOL_VERSION, at};
use super::{FieldCode, Flags, MessageType, WriteError};
use crate::body::{EncodeArgs, InlineSignature, Writer};
use crate::endian::Endian;
use crate::limits::MESSAGE_LEN_MAX;
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
        let signature = InlineSignature::of(args.shapes())?;
        self.write_with(out, serial, signature.check()?, |writer| args.encode_args(writer))
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
        let mut writer = Writer::new(out, self.endian);
        self.write_header(&mut writer, serial, signature);
        let body_start = writer.len();
        body(&mut writer);
        let end = writer.len();
        writer.finish()?;
        if end > MESSAGE_LEN_MAX {
            return Err(WriteError::TooLong { len: end });
        }
        let place = start + at::BODY_LEN;
        let body_len = (end - body_start) as u32;
        out[place..place + 4].copy_from_slice(&self.endian.u32_bytes(body_len));
        Ok(())
    }

    fn write_header(&self, writer: &mut Writer<'_>, serial: NonZeroU32, signature: Signature<'_>) {
        let kind = self.message_type.code();
        writer.raw(&[self.endian.mark(), kind, self.flags.bits(), PROTOCOL_VERSION]);
        writer.uint32(0); // the length of the body, known at the end
        writer.uint32(serial.get());
        writer.array(8, |fields| {
            text_field(fields, FieldCode::Path, self.path.map(ObjectPath::as_str));
            text_field(fields, FieldCode::Interface, self.interface.map(InterfaceName::as_str));
            text_field(fields, FieldCode::Member, self.member.map(MemberName::as_str));
            text_field(fields, FieldCode::ErrorName, self.error_name.map(ErrorName::as_str));
            uint32_field(fields, FieldCode::ReplySerial, self.reply_serial.map(NonZeroU32::get));
            text_field(fields, FieldCode::Destination, self.destination.map(BusName::as_str));
            text_field(fields, FieldCode::Sender, self.sender.map(BusName::as_str));
            if !signature.is_empty() {
                fields.align(8);
                fields.raw(&field_start(FieldCode::Signature));
                fields.signature(signature);
            }
            uint32_field(fields, FieldCode::UnixFds, Some(self.unix_fds).filter(|&n| n > 0));
        });
        writer.align(8);
    }
}

/// The code and the type of a field.
const fn field_start(code: FieldCode) -> [u8; 4] {
    [code as u8, 1, code.type_code(), 0]
}

fn text_field(fields: &mut Writer<'_>, code: FieldCode, value: Option<&str>) {
    if let Some(text) = value {
        fields.field_text(field_start(code), text);
    }
}

fn uint32_field(fields: &mut Writer<'_>, code: FieldCode, value: Option<u32>) {
    if let Some(number) = value {
        fields.field(field_start(code), number);
    }
}
