//! Validates bytes against a signature.

use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, VALUE_DEPTH_MAX};
use crate::message::{InvalidMessage, InvalidReason};
use crate::names::ObjectPath;
use crate::signature::{Signature, complete_type_end};

/// A cursor that moves over marshaled values and validates each of them.
///
/// Offsets, and therefore alignment, are counted from the start of `bytes`, which must be the start
/// of a message or at a multiple of 8 bytes from it. The types are read from their signature
/// together with the values, from front to back, so that no type is searched for twice.
#[derive(Clone, Debug)]
pub struct Validator<'a> {
    /// The bytes that were not validated yet. Their offset follows from `end` and their length.
    rest: &'a [u8],
    end: usize,
    endian: Endian,
}

impl<'a> Validator<'a> {
    /// A cursor over `bytes` at offset `at`. No value may extend beyond `bytes`.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8], endian: Endian, at: usize) -> Self {
        let (_, rest) = bytes.split_at(at);
        Self { rest, end: bytes.len(), endian }
    }

    /// Checks that the remaining bytes are exactly the values of `types`.
    ///
    /// ```
    /// use diligence_wire::Endian;
    /// use diligence_wire::body::Validator;
    /// use diligence_wire::message::InvalidReason;
    /// use diligence_wire::signature::Signature;
    ///
    /// let types = Signature::new("b")?;
    /// let check = |bytes: &[u8]| Validator::new(bytes, Endian::Little, 0).body(types);
    /// assert_eq!(check(&[1, 0, 0, 0]), Ok(()));
    /// assert_eq!(check(&[2, 0, 0, 0]), Err(InvalidReason::Boolean.at(0)));
    /// assert_eq!(check(&[1, 0, 0]), Err(InvalidReason::ValueTruncated.at(0)));
    /// # Ok::<(), diligence_wire::signature::SignatureError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a value is invalid, or the bytes do not end with the last value.
    pub fn body(self, types: Signature<'_>) -> Result<(), InvalidMessage> {
        self.body_of(types.as_bytes())
    }

    /// Like [`body`](Self::body), for the bytes of a valid signature.
    pub(crate) fn body_of(mut self, types: &[u8]) -> Result<(), InvalidMessage> {
        self.values(types, 0)?;
        if !self.rest.is_empty() {
            return Err(InvalidReason::BodyTooLong.at(self.at()));
        }
        Ok(())
    }

    /// Offset of the next byte from the start of `bytes`.
    #[inline]
    pub(crate) const fn at(&self) -> usize {
        self.end - self.rest.len()
    }

    #[inline]
    pub(crate) const fn endian(&self) -> Endian {
        self.endian
    }

    #[inline]
    pub(crate) const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Skips to a multiple of `alignment`, a power of two; the bytes between must be 0.
    #[inline]
    pub(crate) fn align(&mut self, alignment: usize) -> Result<(), InvalidMessage> {
        let at = self.at();
        match align(at, alignment) - at {
            0 => Ok(()),
            len => self.padding(len),
        }
    }

    #[inline]
    fn padding(&mut self, len: usize) -> Result<(), InvalidMessage> {
        let at = self.at();
        let padding = self.take(len)?;
        match padding.iter().position(|&byte| byte != 0) {
            None => Ok(()),
            Some(index) => Err(InvalidReason::PaddingNotZero.at(at + index)),
        }
    }

    /// Returns the next `len` bytes, without checking them.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], InvalidMessage> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(InvalidReason::ValueTruncated.at(self.at()));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// The next bytes, if there are that many, without moving past them.
    #[inline]
    pub(crate) fn peek<const LEN: usize>(&self) -> Option<&'a [u8; LEN]> {
        self.rest.first_chunk()
    }

    /// Reads a number of `LEN` bytes, which is aligned to its length.
    #[inline]
    pub(crate) fn number<const LEN: usize>(&mut self) -> Result<[u8; LEN], InvalidMessage> {
        self.align(LEN)?;
        let Some((number, rest)) = self.rest.split_first_chunk() else {
            return Err(InvalidReason::ValueTruncated.at(self.at()));
        };
        self.rest = rest;
        Ok(*number)
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, InvalidMessage> {
        self.number().map(u8::from_ne_bytes)
    }

    #[inline]
    pub(crate) fn uint32(&mut self) -> Result<u32, InvalidMessage> {
        self.number().map(|bytes| self.endian.u32(bytes))
    }

    #[inline]
    pub(crate) fn boolean(&mut self) -> Result<bool, InvalidMessage> {
        match self.uint32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(InvalidReason::Boolean.at(self.at() - 4)),
        }
    }

    /// Reads a string or an object path up to its end, without validating its text.
    #[inline]
    pub(crate) fn terminated(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let len = self.uint32()? as usize;
        self.text(len, InvalidReason::StringNotTerminated)
    }

    /// The offset at which the last text begins.
    #[inline]
    pub(crate) const fn start_of(&self, text: &[u8]) -> usize {
        self.at() - 1 - text.len()
    }

    /// Reads the text of an object path.
    #[inline]
    pub(crate) fn object_path(&mut self) -> Result<ObjectPath<'a>, InvalidMessage> {
        let text = self.terminated()?;
        ObjectPath::from_bytes(text).map_err(|error| {
            InvalidReason::ObjectPath(error.kind).at(self.start_of(text) + error.at)
        })
    }

    /// Reads the text of a signature value.
    #[inline]
    pub(crate) fn signature(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        let len = self.byte()?.into();
        let text = self.text(len, InvalidReason::SignatureNotTerminated)?;
        Signature::from_bytes(text).map_err(|error| {
            InvalidReason::Signature(error.kind).at(self.start_of(text) + error.at)
        })
    }

    /// Reads the signature of a variant: exactly one complete type.
    #[inline]
    pub(crate) fn variant_signature(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        // Most variants, and all known header fields, have a basic type, which needs no parsing.
        if let Some(&[1, code, 0]) = self.peek()
            && let Some(signature) = Signature::basic(code)
        {
            self.rest = &self.rest[3..];
            return Ok(signature);
        }
        let start = self.at();
        let signature = self.signature()?;
        if complete_type_end(signature.as_bytes()) != Some(signature.as_bytes().len()) {
            return Err(InvalidReason::VariantNotSingle.at(start));
        }
        Ok(signature)
    }

    /// Reads the length of an array and skips the padding before its first element; at least that
    /// many bytes are left.
    #[inline]
    pub(crate) fn array_len(&mut self, alignment: usize) -> Result<usize, InvalidMessage> {
        let len = self.uint32()? as usize;
        let len_at = self.at() - 4;
        if len > ARRAY_LEN_MAX {
            return Err(InvalidReason::ArrayTooLong.at(len_at));
        }
        self.align(alignment)?;
        if len > self.rest.len() {
            return Err(InvalidReason::ValueTruncated.at(len_at));
        }
        Ok(len)
    }

    /// Validates a value of each of `types`, which are valid and are inside `depth` containers.
    ///
    /// Structs and dict entries need no recursion: except for their alignment, they are marshaled
    /// like their fields alone.
    pub(crate) fn values(
        &mut self,
        mut types: &[u8],
        mut depth: usize,
    ) -> Result<(), InvalidMessage> {
        while let Some((code, behind)) = types.split_first() {
            types = behind;
            match code {
                b'y' => self.byte().map(drop)?,
                b'n' | b'q' => self.number::<2>().map(drop)?,
                b'i' | b'u' | b'h' => self.number::<4>().map(drop)?,
                b'x' | b't' | b'd' => self.number::<8>().map(drop)?,
                b'b' => self.boolean().map(drop)?,
                b's' => self.string()?,
                b'o' => self.object_path().map(drop)?,
                b'g' => self.signature().map(drop)?,
                b'v' => self.variant(depth)?,
                b'a' => {
                    let (element, behind) = split_complete_type(behind);
                    self.array(element, depth)?;
                    types = behind;
                }
                b')' | b'}' => depth -= 1,
                _ => {
                    self.align(8)?;
                    depth = self.enter(depth)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), InvalidMessage> {
        let text = self.terminated()?;
        if is_plain(text) {
            return Ok(());
        }
        check_text(text).map(drop).map_err(|(reason, at)| reason.at(self.start_of(text) + at))
    }

    fn variant(&mut self, depth: usize) -> Result<(), InvalidMessage> {
        let inside = self.enter(depth)?;
        let signature = self.variant_signature()?;
        self.values(signature.as_bytes(), inside)
    }

    /// Validates an array of the one complete type `element`.
    fn array(&mut self, element: &[u8], depth: usize) -> Result<(), InvalidMessage> {
        self.align(4)?;
        let inside = self.enter(depth)?;
        let Some((&code, inner)) = element.split_first() else { return Ok(()) };
        let len = self.array_len(alignment(code))?;
        let end = self.at() + len;
        match code {
            // All bytes are valid numbers; only their count can be wrong.
            b'y' | b'n' | b'q' | b'i' | b'u' | b'h' | b'x' | b't' | b'd' => {
                self.take(len - len % alignment(code))?;
            }
            b's' => self.until(end, Self::string)?,
            b'a' => self.until(end, |this| this.array(inner, inside))?,
            _ => self.until(end, |this| this.values(element, inside))?,
        }
        if self.at() != end {
            return Err(InvalidReason::ArrayLength.at(end));
        }
        Ok(())
    }

    /// Validates elements of an array up to offset `end`, or beyond it.
    #[inline]
    fn until(
        &mut self,
        end: usize,
        element: impl Fn(&mut Self) -> Result<(), InvalidMessage>,
    ) -> Result<(), InvalidMessage> {
        while self.at() < end {
            element(self)?;
        }
        Ok(())
    }

    /// The depth inside a container that begins here and is itself inside `depth` others.
    #[inline]
    fn enter(&self, depth: usize) -> Result<usize, InvalidMessage> {
        if depth >= VALUE_DEPTH_MAX {
            return Err(InvalidReason::TooDeep.at(self.at()));
        }
        Ok(depth + 1)
    }

    #[inline]
    fn text(
        &mut self,
        len: usize,
        not_terminated: InvalidReason,
    ) -> Result<&'a [u8], InvalidMessage> {
        let start = self.at();
        let text = self.take(len)?;
        match self.rest {
            [] => Err(InvalidReason::ValueTruncated.at(start)),
            [0, rest @ ..] => {
                self.rest = rest;
                Ok(text)
            }
            _ => Err(not_terminated.at(start + len)),
        }
    }
}

/// Validates the text of a string and returns it, or the error and its offset in the text.
#[inline]
pub(crate) fn check_text(text: &[u8]) -> Result<&str, (InvalidReason, usize)> {
    let valid = core::str::from_utf8(text);
    let valid_len = valid.map_or_else(|error| error.valid_up_to(), str::len);
    if let Some(at) = first_nul(&text[..valid_len]) {
        return Err((InvalidReason::StringContainsNul, at));
    }
    valid.map_err(|_| (InvalidReason::StringNotUtf8, valid_len))
}

/// The offset of the first 0 byte in a text.
#[inline]
pub(crate) fn first_nul(text: &[u8]) -> Option<usize> {
    if is_plain(text) { None } else { text.iter().position(|&byte| byte == 0) }
}

/// True if a text is ASCII without a 0 byte. Nearly all texts are, and such a text is a valid
/// string.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    // The top bit is set if the byte, or the byte minus one, is above 127, that is if the byte is
    // above 127 or 0. A subtraction borrows from the next byte only if a byte is 0, and then the
    // result is already known to be false.
    let plain = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        (word | word.wrapping_sub(ONES)) & (ONES << 7) == 0
    };
    match text.last_chunk() {
        Some(last) => plain(last) && text.as_chunks().0.iter().all(plain),
        None => text.iter().all(|byte| (1..128).contains(byte)),
    }
}

/// The alignment of the type that begins with `code`.
#[inline]
pub(crate) const fn alignment(code: u8) -> usize {
    match code {
        b'y' | b'g' | b'v' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 4,
    }
}

/// Splits valid types into the first complete type and the rest.
pub(crate) fn split_complete_type(types: &[u8]) -> (&[u8], &[u8]) {
    types.split_at(complete_type_end(types).unwrap_or_default())
}
