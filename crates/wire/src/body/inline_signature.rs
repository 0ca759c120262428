//! Composes a signature without an allocation.

use core::marker::PhantomData;

use super::{EncodeArgs, Shape};
use crate::limits::SIGNATURE_LEN_MAX;
use crate::message::WriteError;
use crate::signature::{Signature, SignatureErrorKind};

/// The signature of the arguments of a message, composed and checked at compile time.
///
/// # Errors
///
/// If it is not valid: shapes can be nested too deeply, or have keys that are not basic types.
pub(crate) const fn body_signature<A: EncodeArgs>(_: &A) -> Result<Signature<'static>, WriteError> {
    ArgsSignature::<A>::CHECKED
}

/// The signature of a type of arguments.
struct ArgsSignature<A>(PhantomData<A>);

impl<A: EncodeArgs> ArgsSignature<A> {
    const TEXT: &'static InlineSignature = &InlineSignature::of(A::SHAPES);
    const CHECKED: Result<Signature<'static>, WriteError> = Self::TEXT.check();
}

/// A signature in an array, composed from the shapes of Rust types.
pub(crate) struct InlineSignature {
    /// Greater than [`SIGNATURE_LEN_MAX`] if the signature is too long.
    len: usize,
    text: [u8; SIGNATURE_LEN_MAX],
}

impl InlineSignature {
    pub(crate) const fn of(shapes: &[&Shape]) -> Self {
        let mut signature = Self { len: 0, text: [0; SIGNATURE_LEN_MAX] };
        signature.push_shapes(shapes);
        signature
    }

    /// The signature.
    ///
    /// # Errors
    ///
    /// If it is not valid: shapes can be nested too deeply, or have keys that are not basic types.
    pub(crate) const fn check(&self) -> Result<Signature<'_>, WriteError> {
        let Some((text, _)) = self.text.split_at_checked(self.len) else {
            return Err(WriteError::Signature(SignatureErrorKind::TooLong));
        };
        match Signature::from_bytes(text) {
            Ok(signature) => Ok(signature),
            Err(error) => Err(WriteError::Signature(error.kind)),
        }
    }

    const fn push(&mut self, code: u8) {
        if self.len < SIGNATURE_LEN_MAX {
            self.text[self.len] = code;
        }
        self.len += 1;
    }

    const fn push_shapes(&mut self, mut shapes: &[&Shape]) {
        while let [shape, rest @ ..] = shapes
            && self.len <= SIGNATURE_LEN_MAX
        {
            self.push_shape(shape);
            shapes = rest;
        }
    }

    const fn push_shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Basic(code) => self.push(*code),
            Shape::Variant => self.push(b'v'),
            Shape::Array(element) => {
                self.push(b'a');
                self.push_shape(element);
            }
            Shape::DictEntry(key, value) => self.enclosed(b'{', &[key, value], b'}'),
            Shape::Struct(fields) => self.enclosed(b'(', fields, b')'),
        }
    }

    const fn enclosed(&mut self, open: u8, shapes: &[&Shape], close: u8) {
        self.push(open);
        self.push_shapes(shapes);
        self.push(close);
    }
}
