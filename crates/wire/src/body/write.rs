//! Writing values one after the other.

use alloc::vec::Vec;

use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX, VALUE_DEPTH_MAX};
use crate::message::WriteError;
use crate::names::ObjectPath;
use crate::signature::Signature;

/// A cursor that appends marshalled values to a buffer.
///
/// Offsets, and so padding, are counted from where the buffer ended when the writer was made.
/// The first thing that cannot be written is kept and reported at the end, so that the calls
/// between need no checks.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    endian: Endian,
    depth: usize,
    error: Option<WriteError>,
}

/// One method for each type that is a number.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($int:ty as $raw:ty), $bytes:ident, $len:literal;)*) => {
        impl Writer<'_> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $name(&mut self, value: $int) {
                    self.align($len);
                    self.out.extend_from_slice(&self.endian.$bytes(value as $raw));
                }
            )*
        }
    };
}

numbers! {
    /// Writes an `n`.
    int16(i16 as u16), u16_bytes, 2;
    /// Writes a `q`.
    uint16(u16 as u16), u16_bytes, 2;
    /// Writes an `i`.
    int32(i32 as u32), u32_bytes, 4;
    /// Writes a `u`, or the index that an `h` is.
    uint32(u32 as u32), u32_bytes, 4;
    /// Writes an `x`.
    int64(i64 as u64), u64_bytes, 8;
    /// Writes a `t`.
    uint64(u64 as u64), u64_bytes, 8;
}

impl<'o> Writer<'o> {
    /// A writer behind what `out` holds.
    pub const fn new(out: &'o mut Vec<u8>, endian: Endian) -> Self {
        let start = out.len();
        Self { out, start, endian, depth: 0, error: None }
    }

    /// Bytes written so far.
    pub const fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Whether nothing has been written.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends writing and reports what could not be written, if anything.
    pub fn finish(self) -> Result<(), WriteError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Writes zeros up to a multiple of `alignment`, a power of two not above 8.
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        let len = self.len();
        let padding = align(len, alignment) - len;
        self.out.extend_from_slice(&[0; 8][..padding]);
    }

    /// Writes a `y`.
    #[inline]
    pub fn byte(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Writes a `b`.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.uint32(value.into());
    }

    /// Writes a `d`.
    #[inline]
    pub fn double(&mut self, value: f64) {
        self.uint64(value.to_bits());
    }

    /// Writes an `s`.
    pub fn string(&mut self, text: &str) {
        if text.as_bytes().contains(&0) {
            self.fail(WriteError::StringContainsNul);
        }
        self.text(text);
    }

    /// Writes an `o`.
    pub fn object_path(&mut self, path: ObjectPath<'_>) {
        self.text(path.as_str());
    }

    /// Writes a text without a 0 byte.
    pub(crate) fn text(&mut self, text: &str) {
        let len = text.len();
        if len > MESSAGE_LEN_MAX {
            return self.fail(WriteError::TooLong { len });
        }
        self.uint32(len as u32);
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    /// Writes a `g`.
    pub fn signature(&mut self, signature: Signature<'_>) {
        self.out.push(signature.as_bytes().len() as u8);
        self.out.extend_from_slice(signature.as_bytes());
        self.out.push(0);
    }

    /// Writes a `v`: its one complete type, then the value that `value` writes.
    pub fn variant(&mut self, signature: Signature<'_>, value: impl FnOnce(&mut Self)) {
        self.signature(signature);
        self.nested(value);
    }

    /// Writes a struct or a dict entry, whose fields `fields` writes.
    pub fn structure(&mut self, fields: impl FnOnce(&mut Self)) {
        self.align(8);
        self.nested(fields);
    }

    /// Writes an array, whose elements `elements` writes; they are aligned to `alignment`, a power
    /// of two not above 8.
    pub fn array(&mut self, alignment: usize, elements: impl FnOnce(&mut Self)) {
        self.uint32(0);
        let len_at = self.out.len() - 4;
        self.align(alignment);
        let first = self.out.len();
        self.nested(elements);
        let len = self.out.len() - first;
        if len > ARRAY_LEN_MAX {
            self.fail(WriteError::ArrayTooLong { len });
        }
        self.out[len_at..len_at + 4].copy_from_slice(&self.endian.u32_bytes(len as u32));
    }

    /// Writes an `ay`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.array(1, |writer| writer.raw(bytes));
    }

    /// Appends bytes that are already marshalled.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Keeps the first error.
    pub(super) fn fail(&mut self, error: WriteError) {
        self.error.get_or_insert(error);
    }

    fn nested(&mut self, content: impl FnOnce(&mut Self)) {
        self.depth += 1;
        if self.depth > VALUE_DEPTH_MAX {
            self.fail(WriteError::TooDeep);
        }
        content(self);
        self.depth -= 1;
    }
}
