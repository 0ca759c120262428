//! Checking bytes against a signature.

use crate::endian::{Endian, align};
use crate::limits::{ARRAY_LEN_MAX, VALUE_DEPTH_MAX};
use crate::message::{InvalidMessage, Reason};
use crate::names::ObjectPath;
use crate::signature::{Signature, complete_type_end};

/// A cursor that walks marshalled values and checks each.
///
/// Offsets, and so alignment, are counted from the start of `bytes`, which must be a message's
/// start or stand at a multiple of 8 bytes from it.
#[derive(Clone, Debug)]
pub struct Validator<'a> {
    bytes: &'a [u8],
    endian: Endian,
    at: usize,
}

impl<'a> Validator<'a> {
    /// A cursor over `bytes` that stands at offset `at`. No value may reach behind `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8], endian: Endian, at: usize) -> Self {
        Self { bytes, endian, at }
    }

    /// Checks that what is left is exactly the values of the valid signature `types`.
    ///
    /// ```
    /// use diligence_wire::Endian;
    /// use diligence_wire::body::Validator;
    /// use diligence_wire::message::Reason;
    ///
    /// let check = |bytes: &[u8]| Validator::new(bytes, Endian::Little, 0).body(b"b");
    /// assert_eq!(check(&[1, 0, 0, 0]), Ok(()));
    /// assert_eq!(check(&[2, 0, 0, 0]), Err(Reason::Boolean.at(0)));
    /// assert_eq!(check(&[1, 0, 0]), Err(Reason::ValueTruncated.at(0)));
    /// ```
    pub fn body(mut self, types: &[u8]) -> Result<(), InvalidMessage> {
        self.values(types, 0)?;
        if self.at < self.bytes.len() {
            return Err(Reason::BodyTooLong.at(self.at));
        }
        Ok(())
    }

    #[inline]
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Skips to a multiple of `alignment`; the bytes between must be 0.
    #[inline]
    pub(crate) fn align(&mut self, alignment: usize) -> Result<(), InvalidMessage> {
        let end = align(self.at, alignment);
        let padding = self.bytes.get(self.at..end).ok_or(Reason::ValueTruncated.at(self.at))?;
        if let Some(index) = padding.iter().position(|&byte| byte != 0) {
            return Err(Reason::PaddingNotZero.at(self.at + index));
        }
        self.at = end;
        Ok(())
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, InvalidMessage> {
        let byte = *self.bytes.get(self.at).ok_or(Reason::ValueTruncated.at(self.at))?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn uint32(&mut self) -> Result<u32, InvalidMessage> {
        self.align(4)?;
        let Some(bytes) = self.bytes[self.at..].first_chunk() else {
            return Err(Reason::ValueTruncated.at(self.at));
        };
        self.at += 4;
        Ok(self.endian.u32(*bytes))
    }

    /// Reads a string or an object path up to its end, without looking at its text.
    #[inline]
    pub(crate) fn terminated(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let len = self.uint32()? as usize;
        self.text(len, Reason::StringNotTerminated)
    }

    /// Reads a signature value.
    #[inline]
    pub(crate) fn signature(&mut self) -> Result<Signature<'a>, InvalidMessage> {
        let len = self.byte()? as usize;
        let text = self.text(len, Reason::SignatureNotTerminated)?;
        let start = self.at - len - 1;
        Signature::from_bytes(text).map_err(|e| Reason::Signature(e.kind).at(start + e.at))
    }

    /// Reads the signature of a variant: exactly one complete type.
    #[inline]
    pub(crate) fn variant_signature(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let start = self.at;
        // Most variants, and all known header fields, hold a basic type: spare them the grammar.
        if let Some(&[1, code, 0]) = self.bytes[start..].first_chunk()
            && BASIC[code as usize]
        {
            self.at += 3;
            return Ok(&self.bytes[start + 1..start + 2]);
        }
        let signature = self.signature()?;
        match complete_type_end(signature.as_bytes()) {
            Some(end) if end == signature.as_bytes().len() => Ok(signature.as_bytes()),
            _ => Err(Reason::VariantNotSingle.at(start)),
        }
    }

    /// Checks one value of a complete type that stands inside `depth` containers.
    pub(crate) fn value(
        &mut self,
        complete_type: &[u8],
        depth: usize,
    ) -> Result<(), InvalidMessage> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Reason::TooDeep.at(self.at));
        }
        match complete_type[0] {
            b'y' => self.byte().map(|_| ()),
            b'n' | b'q' => self.fixed(2),
            b'i' | b'u' | b'h' => self.fixed(4),
            b'x' | b't' | b'd' => self.fixed(8),
            b'b' => self.boolean(),
            b's' => self.string(),
            b'o' => self.object_path(),
            b'g' => self.signature().map(|_| ()),
            b'v' => {
                let signature = self.variant_signature()?;
                self.value(signature, depth + 1)
            }
            b'a' => self.array(&complete_type[1..], depth),
            // A struct or a dict entry: both are aligned alike, and their brackets match.
            _ => {
                self.align(8)?;
                self.values(&complete_type[1..complete_type.len() - 1], depth + 1)
            }
        }
    }

    fn values(&mut self, mut types: &[u8], depth: usize) -> Result<(), InvalidMessage> {
        while let Some(end) = complete_type_end(types) {
            self.value(&types[..end], depth)?;
            types = &types[end..];
        }
        Ok(())
    }

    #[inline]
    fn fixed(&mut self, len: usize) -> Result<(), InvalidMessage> {
        self.align(len)?;
        self.skip(len)
    }

    #[inline]
    fn skip(&mut self, len: usize) -> Result<(), InvalidMessage> {
        if len > self.bytes.len() - self.at {
            return Err(Reason::ValueTruncated.at(self.at));
        }
        self.at += len;
        Ok(())
    }

    #[inline]
    fn boolean(&mut self) -> Result<(), InvalidMessage> {
        if self.uint32()? > 1 {
            return Err(Reason::Boolean.at(self.at - 4));
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, len: usize, not_terminated: Reason) -> Result<&'a [u8], InvalidMessage> {
        let start = self.at;
        // Both lengths are below 2^33, so nothing overflows.
        let text = self.bytes.get(start..start + len).ok_or(Reason::ValueTruncated.at(start))?;
        match self.bytes.get(start + len) {
            None => Err(Reason::ValueTruncated.at(start + len)),
            Some(0) => {
                self.at = start + len + 1;
                Ok(text)
            }
            Some(_) => Err(not_terminated.at(start + len)),
        }
    }

    fn string(&mut self) -> Result<(), InvalidMessage> {
        let text = self.terminated()?;
        let start = self.at - text.len() - 1;
        check_text(text).map(|_| ()).map_err(|(reason, at)| reason.at(start + at))
    }

    fn object_path(&mut self) -> Result<(), InvalidMessage> {
        let text = self.terminated()?;
        let start = self.at - text.len() - 1;
        ObjectPath::from_bytes(text)
            .map(|_| ())
            .map_err(|error| Reason::ObjectPath(error.kind).at(start + error.at))
    }

    fn array(&mut self, element: &[u8], depth: usize) -> Result<(), InvalidMessage> {
        let len_at = align(self.at, 4);
        let len = self.uint32()? as usize;
        if len > ARRAY_LEN_MAX {
            return Err(Reason::ArrayTooLong.at(len_at));
        }
        self.align(alignment(element[0]))?;
        let end = self.at + len;
        if end > self.bytes.len() {
            return Err(Reason::ValueTruncated.at(len_at));
        }
        if depth + 1 > VALUE_DEPTH_MAX {
            return Err(Reason::TooDeep.at(len_at));
        }
        self.elements(element, end, depth + 1)
    }

    fn elements(&mut self, element: &[u8], end: usize, depth: usize) -> Result<(), InvalidMessage> {
        let start = self.at;
        if let Some(len) = unchecked_len(element[0]) {
            // Any bytes are valid numbers; only their count can be wrong.
            if !(end - start).is_multiple_of(len) {
                return Err(Reason::ArrayLength.at(start));
            }
            self.at = end;
            return Ok(());
        }
        while self.at < end {
            self.value(element, depth)?;
        }
        if self.at > end {
            return Err(Reason::ArrayLength.at(start));
        }
        Ok(())
    }
}

/// Checks what a string may hold and returns it, or what is wrong and where in the text.
#[inline]
pub(crate) fn check_text(text: &[u8]) -> Result<&str, (Reason, usize)> {
    let valid = core::str::from_utf8(text);
    if let Some(at) = text.iter().position(|&byte| byte == 0)
        && valid.map_or_else(|error| at < error.valid_up_to(), |_| true)
    {
        return Err((Reason::StringContainsNul, at));
    }
    valid.map_err(|error| (Reason::StringNotUtf8, error.valid_up_to()))
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

/// The length of values whose every bit pattern is valid.
const fn unchecked_len(code: u8) -> Option<usize> {
    match code {
        b'y' => Some(1),
        b'n' | b'q' => Some(2),
        b'i' | b'u' | b'h' => Some(4),
        b'x' | b't' | b'd' => Some(8),
        _ => None,
    }
}

/// Whether a byte is the code of a basic type.
static BASIC: [bool; 256] = {
    let mut table = [false; 256];
    let codes = b"ybnqiuxtdsogh";
    let mut index = 0;
    while index < codes.len() {
        table[codes[index] as usize] = true;
        index += 1;
    }
    table
};
