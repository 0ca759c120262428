//! Errors of parsing messages.

use core::fmt;

use super::FieldCode;
use crate::names::NameErrorKind;
use crate::signature::SignatureErrorKind;

/// The reason why bytes are not a valid message, and the byte at which they fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidMessage {
    /// The rule that the message violates.
    pub reason: InvalidReason,
    /// Offset in bytes from the start of the message.
    pub at: usize,
}

/// The rules that a message can violate: "Message Protocol" and "Marshaling (Wire Format)".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum InvalidReason {
    /// The first byte is not `l` or `B`.
    ByteOrder,
    /// The message type is 0.
    TypeZero,
    /// The protocol version is not 1.
    Version,
    /// The serial is 0.
    SerialZero,
    /// The array of header fields exceeds the limit for arrays.
    FieldsTooLong,
    /// Header and body together exceed the limit for messages.
    TooLong,
    /// Header and body together exceed the configured limit of this bus.
    OverConfiguredLimit {
        /// Bytes in the message.
        len: u32,
        /// The configured limit, in bytes.
        limit: u32,
    },
    /// With the SENDER that a bus adds, the message or its header fields could exceed their limit.
    NoRoomForSender {
        /// Bytes in the message, or in its header fields if these alone are too long.
        len: u32,
        /// The limit, in bytes.
        limit: u32,
    },
    /// There are fewer bytes than the header announces.
    Truncated,
    /// There are more bytes than the header announces.
    Surplus,

    /// A header field has the code 0.
    FieldCodeZero,
    /// A header field occurs twice.
    FieldDuplicate(FieldCode),
    /// The value of a header field has another type than the specification defines. Codes from 10
    /// on are not in the specification, so their values may have any type.
    FieldType(FieldCode),
    /// A header field contains a text that is not a valid name of its kind.
    FieldName(FieldCode, NameErrorKind),
    /// A required header field for this type of message is missing.
    FieldMissing(FieldCode),
    /// The serial in REPLY_SERIAL is 0.
    ReplySerialZero,
    /// The interface is `org.freedesktop.DBus.Local`, which must not be sent.
    LocalInterface,
    /// The path is `/org/freedesktop/DBus/Local`, which must not be sent.
    LocalPath,

    /// A value extends beyond its container or the message.
    ValueTruncated,
    /// A padding byte is not 0.
    PaddingNotZero,
    /// A boolean is not 0 or 1.
    Boolean,
    /// A string is not followed by a 0 byte.
    StringNotTerminated,
    /// A string contains a 0 byte.
    StringContainsNul,
    /// A string is not UTF-8.
    StringNotUtf8,
    /// An object path in a value is malformed.
    ObjectPath(NameErrorKind),
    /// A signature in a value is malformed.
    Signature(SignatureErrorKind),
    /// A signature is not followed by a 0 byte.
    SignatureNotTerminated,
    /// The signature of a variant is not exactly one complete type.
    VariantNotSingle,
    /// An array is longer than 64 MiB.
    ArrayTooLong,
    /// The elements of an array do not end at its length.
    ArrayLength,
    /// More than 64 containers are nested. Around the value of a header field there are three: the
    /// array of fields, the field and its variant.
    ///
    /// The reference implementation limits the depth of values, not of containers, and so accepts a
    /// 65th that is an empty array or an array of numbers.
    TooDeep,
    /// The body continues after the last value of its signature.
    BodyTooLong,

    /// Fewer descriptors arrived than UNIX_FDS announces.
    DescriptorsMissing {
        /// The value of UNIX_FDS.
        announced: u32,
        /// The number of descriptors that arrived.
        received: u32,
    },
    /// More descriptors arrived than one message may have here.
    DescriptorsOverLimit {
        /// The number of descriptors that arrived.
        received: u32,
        /// The maximum number of descriptors.
        limit: u32,
    },
}

impl InvalidReason {
    /// The error for this rule at byte `at`.
    #[inline]
    pub const fn at(self, at: usize) -> InvalidMessage {
        InvalidMessage { reason: self, at }
    }
}

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::ByteOrder => "the first byte is not 'l' or 'B'",
            Self::TypeZero => "the message type is 0",
            Self::Version => "the protocol version is not 1",
            Self::SerialZero => "the serial is 0",
            Self::FieldsTooLong => "the header fields are longer than 64 MiB",
            Self::TooLong => "the message is longer than 128 MiB",
            Self::OverConfiguredLimit { len, limit } => {
                return write!(f, "it is {len} bytes long, more than max_message_size={limit}");
            }
            Self::NoRoomForSender { len, limit } => {
                return write!(
                    f,
                    "it has {len} bytes, more than the {limit} that leave room for a sender's name"
                );
            }
            Self::Truncated => "the message is shorter than its header says",
            Self::Surplus => "the message is longer than its header says",
            Self::FieldCodeZero => "a header field has the code 0",
            Self::FieldDuplicate(field) => {
                return write!(f, "the field {field} occurs twice");
            }
            Self::FieldType(field) => return write!(f, "the field {field} has the wrong type"),
            Self::FieldName(field, kind) => {
                return write!(f, "the field {field} is invalid: {kind}");
            }
            Self::FieldMissing(field) => return write!(f, "the field {field} is missing"),
            Self::ReplySerialZero => "the reply serial is 0",
            Self::LocalInterface => "the interface is reserved for use inside a process",
            Self::LocalPath => "the path is reserved for use inside a process",
            Self::ValueTruncated => "a value extends past the end of its container",
            Self::PaddingNotZero => "a padding byte is not 0",
            Self::Boolean => "a boolean is not 0 or 1",
            Self::StringNotTerminated => "a string is not terminated",
            Self::StringContainsNul => "a string contains a 0 byte",
            Self::StringNotUtf8 => "a string is not UTF-8",
            Self::ObjectPath(kind) => return write!(f, "an object path is invalid: {kind}"),
            Self::Signature(kind) => return write!(f, "a signature is invalid: {kind}"),
            Self::SignatureNotTerminated => "a signature is not terminated",
            Self::VariantNotSingle => "a variant does not hold exactly one type",
            Self::ArrayTooLong => "an array is longer than 64 MiB",
            Self::ArrayLength => "an array's elements do not end where its length says",
            Self::TooDeep => "more than 64 containers are nested",
            Self::BodyTooLong => "the body continues after its last value",
            Self::DescriptorsMissing { announced, received } => {
                return write!(
                    f,
                    "the header announces {announced} descriptors, but {received} arrived"
                );
            }
            Self::DescriptorsOverLimit { received, limit } => {
                return write!(
                    f,
                    "{received} descriptors arrived, but at most {limit} are allowed"
                );
            }
        };
        f.write_str(text)
    }
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.reason, self.at)
    }
}

impl core::error::Error for InvalidMessage {}
