//! Writes values one after the other.

use alloc::vec::Vec;

use super::validate::first_nul;
use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX, VALUE_DEPTH_MAX};
use crate::message::WriteError;
use crate::names::ObjectPath;
use crate::signature::Signature;

/// A cursor that appends marshaled values to a buffer.
///
/// Offsets, and therefore padding, are counted from the end of the buffer at the creation of the
/// writer. The first error is kept and reported at the end, so that the calls in between need no
/// checks.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    endian: Endian,
    depth: usize,
    error: Option<WriteError>,
}

/// One method for each number type.
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
    /// Writes a signed 16-bit integer, `n`.
    int16(i16 as u16), u16_bytes, 2;
    /// Writes an unsigned 16-bit integer, `q`.
    uint16(u16 as u16), u16_bytes, 2;
    /// Writes a signed 32-bit integer, `i`.
    int32(i32 as u32), u32_bytes, 4;
    /// Writes an unsigned 32-bit integer, `u`, or the index of an `h`.
    uint32(u32 as u32), u32_bytes, 4;
    /// Writes a signed 64-bit integer, `x`.
    int64(i64 as u64), u64_bytes, 8;
    /// Writes an unsigned 64-bit integer, `t`.
    uint64(u64 as u64), u64_bytes, 8;
}

impl<'o> Writer<'o> {
    /// A writer that appends to the contents of `out`.
    pub const fn new(out: &'o mut Vec<u8>, endian: Endian) -> Self {
        let start = out.len();
        Self { out, start, endian, depth: 0, error: None }
    }

    /// The number of bytes written so far.
    pub const fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Returns true if no byte has been written.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends writing.
    ///
    /// # Errors
    ///
    /// The first error of the calls before.
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

    /// Writes an unsigned byte, `y`.
    #[inline]
    pub fn byte(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Writes a boolean, type `b`.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.uint32(value.into());
    }

    /// Writes a double, type `d`.
    #[inline]
    pub fn double(&mut self, value: f64) {
        self.uint64(value.to_bits());
    }

    /// Writes a string, type `s`.
    pub fn string(&mut self, text: &str) {
        if first_nul(text.as_bytes()).is_some() {
            self.fail(WriteError::StringContainsNul);
        }
        self.text(text);
    }

    /// Writes an object path, `o`.
    pub fn object_path(&mut self, path: ObjectPath<'_>) {
        self.text(path.as_str());
    }

    /// Writes a text, which must not contain a 0 byte.
    fn text(&mut self, text: &str) {
        let len = text.len();
        if len > MESSAGE_LEN_MAX {
            return self.fail(WriteError::TooLong { len });
        }
        self.uint32(len as u32);
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    /// Writes a signature, type `g`.
    pub fn signature(&mut self, signature: Signature<'_>) {
        self.out.push(signature.as_bytes().len() as u8);
        self.out.extend_from_slice(signature.as_bytes());
        self.out.push(0);
    }

    /// Writes values that another writer has written, in the same byte order.
    pub fn encoded(&mut self, values: &[u8]) {
        // The padding between them is then the same.
        self.align(8);
        self.out.extend_from_slice(values);
    }

    /// Writes a variant, `v`: its one complete type, then the value that `value` writes.
    pub fn variant(&mut self, signature: Signature<'_>, value: impl FnOnce(&mut Self)) {
        self.signature(signature);
        self.nested(value);
    }

    /// Writes a struct or a dict entry; `fields` writes its fields.
    pub fn structure(&mut self, fields: impl FnOnce(&mut Self)) {
        self.align(8);
        self.nested(fields);
    }

    /// Writes an array; `elements` writes its elements, which are aligned to `alignment`, a power
    /// of two up to 8.
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

    /// Writes an array of bytes, `ay`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.array(1, |writer| writer.raw(bytes));
    }

    /// Appends bytes that are already marshaled.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Records an error, unless there is one already.
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
