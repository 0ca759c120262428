//! The codes of the header fields ("Header Fields").

use core::fmt;

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
    /// The bus name of the recipient: `s`.
    Destination = 6,
    /// The bus name of the sender: `s`.
    Sender = 7,
    /// The types of the body: `g`.
    Signature = 8,
    /// The number of file descriptors: `u`.
    UnixFds = 9,
}

impl FieldCode {
    /// The field with this code; `None` if the specification defines none.
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
