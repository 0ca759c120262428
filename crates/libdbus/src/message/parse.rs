//! Creation of messages from bytes.

use std::ffi::{CString, c_char, c_int};
use std::os::fd::OwnedFd;

use wire::body::Reader;
use wire::limits::MESSAGE_LEN_MAX;
use wire::message::{FieldCode, FixedHeader, InvalidMessage, InvalidReason};
use wire::{Endian, Message};

use super::{DBusMessage, DBusMessageContent, HeaderField, HeaderValue, MessageRef, code, swap};
use crate::c::{self, Out};
use crate::checks::check;
use crate::errors::{DBusError, names};
use crate::signatures;

impl DBusMessageContent {
    /// Parses and checks a message, which `bytes` contain exactly.
    pub(crate) fn parse(bytes: &[u8], fds: Vec<OwnedFd>) -> Result<Self, InvalidMessage> {
        let message = Message::parse(bytes)?;
        message.validate_body()?;
        Self::of(&message, fds)
    }

    /// Copies a message with a valid body.
    pub(crate) fn of(message: &Message<'_>, fds: Vec<OwnedFd>) -> Result<Self, InvalidMessage> {
        let mut content = Self::new(message.message_type().code());
        content.flags = message.flags().bits();
        content.serial = message.serial().get();
        content.endian = message.endian();
        content.fields = fields(message)?;
        content.body = message.body().to_vec();
        content.fds = fds;
        Ok(content)
    }
}

/// Copies the fields of a valid header.
fn fields(message: &Message<'_>) -> Result<Vec<HeaderField>, InvalidMessage> {
    let header = message.header_bytes();
    let fixed = header.first_chunk().ok_or(InvalidReason::Truncated.at(0))?;
    let header = &header[..FixedHeader::parse(fixed)?.fields_end()];
    let mut fields = Vec::with_capacity(8);
    let mut reader = Reader::new(header, message.endian(), FixedHeader::LEN);
    while reader.at() < header.len() {
        reader.start_struct()?;
        let start = reader.at();
        let code = reader.byte()?;
        let signature = reader.variant()?;
        let value = match (code, signature.as_str()) {
            (code::REPLY_SERIAL | code::UNIX_FDS, _) => HeaderValue::Number(reader.uint32()?),
            (code::SIGNATURE, _) => text(reader.signature()?.as_str()),
            // `wire` does not know this field, and so accepts it twice.
            (code::CONTAINER_INSTANCE, "o") if contains(&fields, code) => {
                return Err(InvalidReason::FieldDuplicate(FieldCode::Path).at(start));
            }
            (1..=7, _) | (code::CONTAINER_INSTANCE, "o") => text(reader.string()?),
            (code::CONTAINER_INSTANCE, _) => {
                return Err(InvalidReason::FieldType(FieldCode::Path).at(start));
            }
            _ => {
                let at = reader.at();
                let end = swap::value_end(header, message.endian(), at, signature.as_bytes());
                reader = Reader::new(header, message.endian(), end);
                HeaderValue::Unknown(header[start..end].to_vec())
            }
        };
        fields.push(HeaderField { code, value });
    }
    Ok(fields)
}

fn contains(fields: &[HeaderField], code: u8) -> bool {
    fields.iter().any(|field| field.code == code)
}

/// Names of a valid header have no 0 bytes.
fn text(name: &str) -> HeaderValue {
    HeaderValue::Text(CString::new(name).unwrap_or_default())
}

/// The text of libdbus for an invalid message.
fn reason(reason: InvalidReason) -> &'static str {
    match reason {
        InvalidReason::ByteOrder => "Bad byte order",
        InvalidReason::TypeZero => "Bad message type",
        InvalidReason::Version => "Bad protocol version",
        InvalidReason::SerialZero => "Bad serial",
        InvalidReason::FieldsTooLong => "Insane fields array length",
        InvalidReason::TooLong | InvalidReason::OverConfiguredLimit { .. } => "Message too long",
        InvalidReason::Truncated | InvalidReason::ValueTruncated => "Not enough data",
        InvalidReason::Surplus | InvalidReason::BodyTooLong => "Too much data",
        InvalidReason::FieldCodeZero => "Header field code",
        InvalidReason::FieldDuplicate(_) => "Header field appears twice",
        InvalidReason::FieldType(_) => "Header field has wrong type",
        InvalidReason::FieldName(field, _) => match field {
            FieldCode::Path => "Bad path",
            FieldCode::Interface => "Bad interface",
            FieldCode::Member => "Bad member",
            FieldCode::ErrorName => "Bad error name",
            FieldCode::Destination => "Bad destination",
            _ => "Bad sender",
        },
        InvalidReason::FieldMissing(field) => match field {
            FieldCode::Path => "Missing path",
            FieldCode::Interface => "Missing interface",
            FieldCode::Member => "Missing member",
            FieldCode::ErrorName => "Missing error name",
            _ => "Missing reply serial",
        },
        InvalidReason::ReplySerialZero => "Bad serial",
        InvalidReason::LocalInterface => "Uses local interface",
        InvalidReason::LocalPath => "Uses local path",
        InvalidReason::PaddingNotZero => "Alignment padding not null",
        InvalidReason::Boolean => "Boolean is not zero or one",
        InvalidReason::StringNotTerminated => "String missing nul",
        InvalidReason::StringContainsNul | InvalidReason::StringNotUtf8 => "Bad utf8 in string",
        InvalidReason::ObjectPath(_) => "Bad path",
        InvalidReason::Signature(kind) => signatures::reason(kind),
        InvalidReason::SignatureNotTerminated => "Signature missing nul",
        InvalidReason::VariantNotSingle => "Variant signature specifies multiple values",
        InvalidReason::ArrayTooLong => "Array length exceeds maximum",
        InvalidReason::ArrayLength => "Array length incorrect",
        InvalidReason::TooDeep => {
            "Variants cannot be used to create a hugely recursive tree of values"
        }
        InvalidReason::DescriptorsMissing { .. } => "Unix file descriptor missing",
        _ => "Unknown reason",
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_demarshal(
    data: *const c_char,
    len: c_int,
    error: Out<DBusError>,
) -> *const DBusMessage {
    let none = std::ptr::null();
    check!("dbus_message_demarshal", !data.is_null(), "str != NULL", none);
    let bytes = c::bytes_at(data.cast(), c::length(len).unwrap_or_default());
    // As in libdbus, an incomplete message has the error of a lack of memory, and messages after
    // the first one are ignored if their lengths are valid.
    let whole = match usize::try_from(bytes_needed(bytes)) {
        Ok(needed) if needed == 0 || needed > bytes.len() => {
            error.store(names::NO_MEMORY.to_bytes(), b"Not enough memory available");
            return none;
        }
        Ok(needed) => &bytes[..needed],
        Err(_) => bytes,
    };
    let parsed = match Message::parse(whole).map(|message| message.unix_fds()) {
        Ok(0) => DBusMessageContent::parse(whole, Vec::new()),
        Ok(announced) => Err(InvalidReason::DescriptorsMissing { announced, received: 0 }.at(0)),
        Err(error) => Err(error),
    };
    let mut rest = &bytes[whole.len()..];
    let parsed = loop {
        match usize::try_from(bytes_needed(rest)) {
            Err(_) => break Err(InvalidReason::ByteOrder.at(0)),
            Ok(needed) if needed == 0 || needed > rest.len() => break parsed,
            Ok(needed) => rest = &rest[needed..],
        }
    };
    match parsed {
        Ok(content) => MessageRef::give(Some(MessageRef::new(content))),
        Err(invalid) => {
            let text = format!("Message is corrupted ({})", reason(invalid.reason));
            error.store(names::INVALID_ARGS.to_bytes(), text.as_bytes());
            none
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_demarshal_bytes_needed(data: *const c_char, len: c_int) -> c_int {
    bytes_needed(c::bytes_at(data.cast(), c::length(len).unwrap_or_default()))
}

/// Returns the length of the message that begins with these bytes: 0 if they are too few to know,
/// -1 if the byte order or the lengths are not valid. Other parts of the header are not checked.
fn bytes_needed(bytes: &[u8]) -> c_int {
    let Some([mark, _, _, _, b0, b1, b2, b3, _, _, _, _, f0, f1, f2, f3]) =
        bytes.first_chunk::<{ FixedHeader::LEN }>()
    else {
        return 0;
    };
    let Some(endian) = Endian::from_mark(*mark) else { return -1 };
    let fields = endian.u32([*f0, *f1, *f2, *f3]) as usize;
    let body = endian.u32([*b0, *b1, *b2, *b3]) as usize;
    let len = (FixedHeader::LEN + fields).next_multiple_of(8) + body;
    c_int::try_from(len).ok().filter(|_| len <= MESSAGE_LEN_MAX).unwrap_or(-1)
}
