//! Reads values one after the other.

use alloc::string::String;
use core::fmt;

use super::validate::{Validator, alignment, check_text, split_complete_type};
use crate::endian::Endian;
use crate::message::{InvalidMessage, InvalidReason};
use crate::names::ObjectPath;
use crate::signature::{Signature, SignatureBuf};

/// The reason why a body cannot be read as the requested types.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The body has other types than the requested ones.
    Signature {
        /// The requested types of the arguments.
        expected: SignatureBuf,
        /// The types of the body.
        found: SignatureBuf,
    },
    /// A variant contains another type than the requested one.
    Variant {
        /// The requested type of the variant.
        expected: SignatureBuf,
        /// The type of the value in the variant.
        found: SignatureBuf,
    },
    /// A value has the right type, but is not one of the expected values.
    Value(String),
    /// The body is not valid.
    Invalid(InvalidMessage),
}

impl From<InvalidMessage> for ReadError {
    fn from(error: InvalidMessage) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature { expected, found } => {
                write!(f, "the body has the types \"{found}\", but \"{expected}\" was expected")
            }
            Self::Variant { expected, found } => {
                write!(f, "a variant holds \"{found}\", but \"{expected}\" was expected")
            }
            Self::Value(what) => f.write_str(what),
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReadError {}

/// A cursor over marshaled values.
///
/// Every step is checked, so bytes that were never validated are safe. The caller must know the
/// types of the values; [`Decode`](super::Decode) gets them from the Rust types.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    cursor: Validator<'a>,
}

/// One method for each number type.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident -> $int:ty, $len:literal, $read:ident;)*) => {
        impl Reader<'_> {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// If the body ends before the value.
                #[inline]
                pub fn $name(&mut self) -> Result<$int, InvalidMessage> {
                    let bytes = self.cursor.number::<$len>()?;
                    Ok(self.cursor.endian().$read(bytes) as $int)
                }
            )*
        }
    };
}

numbers! {
    /// Reads a signed 16-bit integer, `n`.
    int16 -> i16, 2, u16;
    /// Reads an unsigned 16-bit integer, `q`.
    uint16 -> u16, 2, u16;
    /// Reads a signed 32-bit integer, `i`.
    int32 -> i32, 4, u32;
    /// Reads an unsigned 32-bit integer, `u`, or the index of an `h`.
    uint32 -> u32, 4, u32;
    /// Reads a signed 64-bit integer, `x`.
    int64 -> i64, 8, u64;
    /// Reads an unsigned 64-bit integer, `t`.
    uint64 -> u64, 8, u64;
}

impl<'a> Reader<'a> {
    /// A cursor at offset `at` of `bytes`, which begin at the start of a message.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length of `bytes`.
    pub const fn new(bytes: &'a [u8], endian: Endian, at: usize) -> Self {
        Self { cursor: Validator::new(bytes, endian, at) }
    }

    /// Offset of the next byte from the start of the message.
    pub const fn at(&self) -> usize {
        self.cursor.at()
    }

    /// Reads an unsigned byte, `y`.
    ///
    /// # Errors
    ///
    /// If the bytes end before.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, InvalidMessage> {
        self.cursor.byte()
    }

    /// Reads a boolean, `b`.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the value is not 0 or 1.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, InvalidMessage> {
        self.cursor.boolean()
    }

    /// Reads a double, `d`.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the padding is not zero.
    #[inline]
    pub fn double(&mut self) -> Result<f64, InvalidMessage> {
        self.uint64().map(f64::from_bits)
    }

    /// Reads a string, `s`, or the text of an object path, `o`.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the text is not UTF-8 or contains a 0 byte.
    pub fn string(&mut self) -> Result<&'a str, InvalidMessage> {
        let text = self.cursor.terminated()?;
        check_text(text).map_err(|(reason, at)| reason.at(self.cursor.start_of(text) + at))
    }

    /// Reads an object path, `o`.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the path is not valid.
    pub fn object_path(&mut self) -> Result<ObjectPath<'a>, InvalidMessage> {
        self.cursor.object_path()
    }

    /// Reads a signature, `g`.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the signature is not valid.
    pub fn signature(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        self.cursor.signature()
    }

    /// Reads the signature of a variant, `v`: one complete type. The value follows.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the signature is not exactly one complete type.
    pub fn variant(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        self.cursor.variant_signature()
    }

    /// Skips the padding before a struct or a dict entry.
    ///
    /// # Errors
    ///
    /// If the bytes end before, or the padding is not zero.
    pub fn start_struct(&mut self) -> Result<(), InvalidMessage> {
        self.cursor.align(8)
    }

    /// Reads the length of an array whose elements are aligned to `alignment`, a power of two, and
    /// returns the end of the array, for [`has_more`](Self::has_more).
    ///
    /// # Errors
    ///
    /// If the bytes end before the array does, or the array is too long.
    pub fn start_array(&mut self, alignment: usize) -> Result<ArrayEnd, InvalidMessage> {
        let len = self.cursor.array_len(alignment)?;
        Ok(ArrayEnd(self.at() + len))
    }

    /// Returns true if the array has another element.
    ///
    /// # Errors
    ///
    /// If the last element exceeded the end of the array.
    pub fn has_more(&self, end: ArrayEnd) -> Result<bool, InvalidMessage> {
        if self.at() > end.0 {
            return Err(InvalidReason::ArrayLength.at(end.0));
        }
        Ok(self.at() < end.0)
    }

    /// Reads an array of bytes, `ay`, without copying it.
    ///
    /// # Errors
    ///
    /// If the bytes end before the array does, or the array is too long.
    pub fn bytes(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let len = self.cursor.array_len(1)?;
        self.cursor.take(len)
    }

    /// Validates one value of the first type in `types`, which are valid, and moves past it.
    pub(crate) fn skip(&mut self, types: Signature<'_>) -> Result<(), InvalidMessage> {
        let (first, _) = split_complete_type(types.as_bytes());
        self.cursor.values(first, 0)
    }
}

/// The end of an array, from [`Reader::start_array`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayEnd(usize);

/// The alignment of the one type in a signature, in bytes.
pub(super) fn element_alignment(element: Signature<'_>) -> usize {
    element.as_bytes().first().map_or(1, |&code| alignment(code))
}
