//! Every way in which a text fails to be an address.

use core::fmt;

use crate::guid::GuidError;

/// Why a text is no address, and at which byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressError {
    /// Which rule the text breaks.
    pub kind: AddressErrorKind,
    /// Offset in bytes from the start of the whole text.
    pub at: usize,
}

/// The rules that an address can break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddressErrorKind {
    /// The whole text is empty.
    Empty,
    /// Two `;` meet, or the first entry is missing.
    EmptyEntry,
    /// No colon ends the name of the transport.
    MissingColon,
    /// Nothing stands before the colon.
    EmptyTransport,
    /// A key has no `=` after it.
    MissingEquals,
    /// Nothing stands before the `=`.
    EmptyKey,
    /// Nothing stands after the `=`.
    EmptyValue,
    /// The same key is in the entry twice.
    DuplicateKey,
    /// Two hexadecimal digits do not follow a `%`.
    BadEscape,
    /// A byte that may only be written as `%` and two digits.
    UnescapedByte(u8),
    /// A transport needs this key.
    MissingKey(&'static str),
    /// `unix` without any of `path`, `abstract`, `dir`, `tmpdir` and `runtime`.
    NoUnixKey,
    /// `unix` with two of `path`, `abstract`, `dir`, `tmpdir` and `runtime`.
    SeveralUnixKeys,
    /// `runtime` with another value than `yes`.
    RuntimeNotYes,
    /// A path of the file system has a NUL byte.
    NulInPath,
    /// The name of a host is not UTF-8.
    NotUtf8,
    /// The port is no number from 0 to 65535.
    InvalidPort,
    /// The family is neither `ipv4` nor `ipv6`.
    InvalidFamily,
    /// The GUID is none.
    InvalidGuid(GuidError),
}

impl AddressErrorKind {
    pub(super) const fn at(self, at: usize) -> AddressError {
        AddressError { kind: self, at }
    }
}

impl fmt::Display for AddressErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the address is empty",
            Self::EmptyEntry => "an entry between ';' is empty",
            Self::MissingColon => "the transport's name must be followed by ':'",
            Self::EmptyTransport => "the name of the transport is missing before ':'",
            Self::MissingEquals => "the key must be followed by '=' and a value",
            Self::EmptyKey => "the key is missing before '='",
            Self::EmptyValue => "the value is missing after '='",
            Self::DuplicateKey => "the key is given twice",
            Self::BadEscape => "'%' must be followed by two hexadecimal digits",
            Self::UnescapedByte(byte) => {
                return write!(f, "the byte {:?} must be written as %{byte:02x}", char::from(*byte));
            }
            Self::MissingKey(key) => return write!(f, "the transport needs the key \"{key}\""),
            Self::NoUnixKey => {
                "\"unix\" needs one of \"path\", \"abstract\", \"dir\", \"tmpdir\" and \"runtime\""
            }
            Self::SeveralUnixKeys => {
                "\"unix\" takes only one of \"path\", \"abstract\", \"dir\", \"tmpdir\" and \"runtime\""
            }
            Self::RuntimeNotYes => "the only value of \"runtime\" is \"yes\"",
            Self::NulInPath => "a path cannot have a NUL byte",
            Self::NotUtf8 => "the name of a host must be UTF-8",
            Self::InvalidPort => "the port must be a number from 0 to 65535",
            Self::InvalidFamily => "the family must be \"ipv4\" or \"ipv6\"",
            Self::InvalidGuid(error) => return error.fmt(f),
        })
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.at)
    }
}

impl core::error::Error for AddressError {}
