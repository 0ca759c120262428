//! The codes of the header fields ("Header Fields").

use core::fmt;

/// The header fields that the specification defines, with their codes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum FieldCode {
    /// The path of the object, type `o`.
    Path = 1,
    /// The name of the interface, type `s`.
    Interface = 2,
    /// The name of the method or signal, type `s`.
    Member = 3,
    /// The name of the error, type `s`.
    ErrorName = 4,
    /// The serial of the call to which the message replies, type `u`.
    ReplySerial = 5,
    /// The bus name of the recipient, type `s`.
    Destination = 6,
    /// The bus name of the sender, type `s`.
    Sender = 7,
    /// The signature of the body, type `g`.
    Signature = 8,
    /// The number of file descriptors, type `u`.
    UnixFds = 9,
}

impl FieldCode {
    /// The field with this code; `None` if the specification does not define one.
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

    /// The name of the field in the specification.
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

    /// The bit of the field in a set of fields.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for FieldCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The offsets of the length and of the text in a field of type `s` or `o`.
pub(super) const LEN_AT: usize = 4;
pub(super) const TEXT_AT: usize = 8;
