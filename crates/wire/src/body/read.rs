//! Reading values one after the other.

use alloc::string::String;
use core::fmt;

use super::validate::{Validator, alignment, check_text, split_complete_type};
use crate::endian::Endian;
use crate::message::{InvalidMessage, InvalidReason};
use crate::names::ObjectPath;
use crate::signature::{Signature, SignatureBuf};

/// Why a body cannot be read as what was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The body has other types than were asked for.
    Signature {
        /// The types asked for.
        expected: SignatureBuf,
        /// The types of the body.
        found: SignatureBuf,
    },
    /// A variant holds another type than was asked for.
    Variant {
        /// The type asked for.
        expected: SignatureBuf,
        /// The type that the variant holds.
        found: SignatureBuf,
    },
    /// A value has the right type and none of the values that were expected.
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
                write!(f, "the body has the types \"{found}\" and \"{expected}\" was expected")
            }
            Self::Variant { expected, found } => {
                write!(f, "a variant holds \"{found}\" and \"{expected}\" was expected")
            }
            Self::Value(what) => f.write_str(what),
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReadError {}

/// A cursor over marshalled values.
///
/// Every step is checked, so bytes that were never validated can do no harm. Which types come is
/// the caller's knowledge; [`Decode`](super::Decode) has it from the Rust types.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    cursor: Validator<'a>,
}

/// One method for each type that is a number.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident -> $int:ty, $len:literal, $read:ident;)*) => {
        impl Reader<'_> {
            $(
                $(#[$doc])*
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
    /// Reads an `n`.
    int16 -> i16, 2, u16;
    /// Reads a `q`.
    uint16 -> u16, 2, u16;
    /// Reads an `i`.
    int32 -> i32, 4, u32;
    /// Reads a `u`, or the index that an `h` is.
    uint32 -> u32, 4, u32;
    /// Reads an `x`.
    int64 -> i64, 8, u64;
    /// Reads a `t`.
    uint64 -> u64, 8, u64;
}

impl<'a> Reader<'a> {
    /// A cursor at offset `at` of `bytes`, which begin where a message does.
    ///
    /// # Panics
    ///
    /// If `at` lies behind the end of `bytes`.
    pub const fn new(bytes: &'a [u8], endian: Endian, at: usize) -> Self {
        Self { cursor: Validator::new(bytes, endian, at) }
    }

    /// Offset of the next byte from the start of the message.
    pub const fn at(&self) -> usize {
        self.cursor.at()
    }

    /// Reads a `y`.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, InvalidMessage> {
        self.cursor.byte()
    }

    /// Reads a `b`.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, InvalidMessage> {
        self.cursor.boolean()
    }

    /// Reads a `d`.
    #[inline]
    pub fn double(&mut self) -> Result<f64, InvalidMessage> {
        self.uint64().map(f64::from_bits)
    }

    /// Reads an `s`, or the text of an `o`.
    pub fn string(&mut self) -> Result<&'a str, InvalidMessage> {
        let text = self.cursor.terminated()?;
        check_text(text).map_err(|(reason, at)| reason.at(self.cursor.start_of(text) + at))
    }

    /// Reads an `o`.
    pub fn object_path(&mut self) -> Result<ObjectPath<'a>, InvalidMessage> {
        self.cursor.object_path()
    }

    /// Reads a `g`.
    pub fn signature(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        self.cursor.signature()
    }

    /// Reads the signature of a `v`: one complete type, whose value comes next.
    pub fn variant(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        self.cursor.variant_signature()
    }

    /// Skips the padding before a struct or a dict entry.
    pub fn start_struct(&mut self) -> Result<(), InvalidMessage> {
        self.cursor.align(8)
    }

    /// Reads the length of an array whose elements are aligned to `alignment`, a power of two, and
    /// returns where the array ends, for [`has_more`](Self::has_more).
    pub fn start_array(&mut self, alignment: usize) -> Result<ArrayEnd, InvalidMessage> {
        let len = self.cursor.array_len(alignment)?;
        Ok(ArrayEnd(self.at() + len))
    }

    /// Whether the array has another element.
    pub fn has_more(&self, end: ArrayEnd) -> Result<bool, InvalidMessage> {
        if self.at() > end.0 {
            return Err(InvalidReason::ArrayLength.at(end.0));
        }
        Ok(self.at() < end.0)
    }

    /// Reads an `ay` without copying it.
    pub fn bytes(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let len = self.cursor.array_len(1)?;
        self.cursor.take(len)
    }

    /// Checks one value of the first type of `types`, which are valid, and goes behind it.
    pub(crate) fn skip(&mut self, types: Signature<'_>) -> Result<(), InvalidMessage> {
        let (first, _) = split_complete_type(types.as_bytes());
        self.cursor.values(first, 0)
    }
}

/// Where an array ends, known by [`Reader::start_array`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayEnd(usize);

/// The alignment of the one type in a signature.
pub(super) fn element_alignment(element: Signature<'_>) -> usize {
    element.as_bytes().first().map_or(1, |&code| alignment(code))
}
