//! Errors of writing messages.

use core::fmt;

use super::InvalidReason;
use crate::signature::SignatureErrorKind;

/// The reason why a message cannot be written, which is always an argument of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// A string contains a 0 byte, which D-Bus does not allow.
    StringContainsNul,
    /// An array is longer than 64 MiB.
    ArrayTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// More than 64 containers are nested.
    TooDeep,
    /// A [`Value`](crate::body::Value) is an array that does not have exactly one element type, or
    /// that has an item of another type.
    ElementType,
    /// The message, or a string in it, would be longer than 128 MiB.
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The interface is `org.freedesktop.DBus.Local`, which must not be sent.
    LocalInterface,
    /// The path is `/org/freedesktop/DBus/Local`, which must not be sent.
    LocalPath,
    /// The types of the arguments are not a valid signature: too many, or nested too deeply.
    Signature(SignatureErrorKind),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StringContainsNul => f.write_str("a string contains a 0 byte"),
            Self::ArrayTooLong { len } => write!(f, "an array of {len} bytes exceeds 64 MiB"),
            Self::TooDeep => f.write_str("more than 64 containers are nested"),
            Self::ElementType => f.write_str("an array has items that are not of its type"),
            Self::TooLong { len } => write!(f, "a message of {len} bytes exceeds 128 MiB"),
            Self::LocalInterface => InvalidReason::LocalInterface.fmt(f),
            Self::LocalPath => InvalidReason::LocalPath.fmt(f),
            Self::Signature(kind) => kind.fmt(f),
        }
    }
}

impl core::error::Error for WriteError {}
