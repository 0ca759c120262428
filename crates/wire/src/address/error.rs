//! Errors of parsing addresses ("Server Addresses").

use core::fmt;

use crate::guid::GuidError;

/// The reason why a text is not a valid address, and the byte at which it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressError {
    /// The rule that the text violates.
    pub kind: AddressErrorKind,
    /// Offset in bytes from the start of the whole text.
    pub at: usize,
}

/// The rules that an address can violate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddressErrorKind {
    /// The whole text is empty.
    Empty,
    /// Two `;` meet, or the first entry is missing.
    EmptyEntry,
    /// The name of the transport is not followed by a colon.
    MissingColon,
    /// The text before the colon is empty.
    EmptyTransport,
    /// A key is not followed by `=`.
    MissingEquals,
    /// The text before the `=` is empty.
    EmptyKey,
    /// The text after the `=` is empty.
    EmptyValue,
    /// The same key is in the entry twice.
    DuplicateKey,
    /// A `%` is not followed by two hexadecimal digits.
    BadEscape,
    /// A byte that must be escaped as `%` and two digits.
    UnescapedByte(u8),
    /// A key that the transport requires is missing.
    MissingKey(&'static str),
    /// `unix` without any of `path`, `abstract`, `dir`, `tmpdir` and `runtime`.
    NoUnixKey,
    /// `unix` with two of `path`, `abstract`, `dir`, `tmpdir` and `runtime`.
    SeveralUnixKeys,
    /// `runtime` with another value than `yes`.
    RuntimeNotYes,
    /// A path of the file system has a NUL byte.
    NulInPath,
    /// The name of the host is not UTF-8.
    NotUtf8,
    /// The port is not a number from 0 to 65535.
    InvalidPort,
    /// The family is not `ipv4` or `ipv6`.
    InvalidFamily,
    /// The value of `guid` is not a valid GUID.
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
