//! Composes a signature without an allocation.

use super::Shape;
use crate::limits::SIGNATURE_LEN_MAX;
use crate::message::WriteError;
use crate::signature::{Signature, SignatureErrorKind};

/// A signature on the stack, composed from the shapes of Rust types.
pub(crate) struct InlineSignature {
    len: usize,
    text: [u8; SIGNATURE_LEN_MAX],
}

impl InlineSignature {
    pub(crate) fn of(shapes: &[&Shape]) -> Result<Self, WriteError> {
        let mut signature = Self { len: 0, text: [0; SIGNATURE_LEN_MAX] };
        for shape in shapes {
            signature.push_shape(shape)?;
        }
        Ok(signature)
    }

    /// The signature, if it is valid: shapes can be nested too deeply, or have keys that are not
    /// basic types.
    pub(crate) fn check(&self) -> Result<Signature<'_>, WriteError> {
        Signature::from_bytes(&self.text[..self.len])
            .map_err(|error| WriteError::Signature(error.kind))
    }

    fn push(&mut self, code: u8) -> Result<(), WriteError> {
        let too_long = WriteError::Signature(SignatureErrorKind::TooLong);
        *self.text.get_mut(self.len).ok_or(too_long)? = code;
        self.len += 1;
        Ok(())
    }

    fn push_shape(&mut self, shape: &Shape) -> Result<(), WriteError> {
        match shape {
            Shape::Basic(code) => self.push(*code),
            Shape::Variant => self.push(b'v'),
            Shape::Array(element) => {
                self.push(b'a')?;
                self.push_shape(element)
            }
            Shape::DictEntry(key, value) => self.enclosed(b'{', &[key, value], b'}'),
            Shape::Struct(fields) => self.enclosed(b'(', fields, b')'),
        }
    }

    fn enclosed(&mut self, open: u8, shapes: &[&Shape], close: u8) -> Result<(), WriteError> {
        self.push(open)?;
        for shape in shapes {
            self.push_shape(shape)?;
        }
        self.push(close)
    }
}
