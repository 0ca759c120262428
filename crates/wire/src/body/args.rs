//! Whole bodies: zero or more arguments, as tuples.

use super::types::signature_of_shapes;
use super::{Decode, Encode, ReadError, Reader, Shape, Typed, Writer};
use crate::signature::{Signature, SignatureBuf};

/// The arguments of a message, to be written: a tuple of [`Encode`] types, `()` for none.
pub trait EncodeArgs {
    /// The types, in order.
    fn shapes(&self) -> &'static [&'static Shape];

    /// Writes all arguments.
    fn encode_args(&self, writer: &mut Writer<'_>);
}

/// The arguments of a message, to be read: a tuple of [`Decode`] types, `()` for none.
pub trait DecodeArgs<'a>: Sized {
    /// The types, in order.
    const SHAPES: &'static [&'static Shape];

    /// Reads all arguments.
    fn decode_args(reader: &mut Reader<'a>) -> Result<Self, ReadError>;

    /// Reads all arguments of a body whose types are `found`, if they are these.
    fn decode_body(found: Signature<'_>, reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if !is_shaped(found, Self::SHAPES) {
            return Err(ReadError::Signature { expected: Self::signature(), found: found.into() });
        }
        Self::decode_args(reader)
    }

    /// The types as text.
    fn signature() -> SignatureBuf {
        signature_of_shapes(Self::SHAPES).unwrap_or_default()
    }
}

/// Whether the types of `signature` are these.
pub(super) fn is_shaped(signature: Signature<'_>, shapes: &[&Shape]) -> bool {
    let mut rest = signature.as_str();
    shapes.iter().all(|shape| strip_shape(&mut rest, shape)) && rest.is_empty()
}

/// Takes the text of `shape` from the front of `signature`; says whether it stood there.
fn strip_shape(signature: &mut &str, shape: &Shape) -> bool {
    match shape {
        Shape::Basic(code) => strip(signature, *code),
        Shape::Variant => strip(signature, b'v'),
        Shape::Array(element) => strip(signature, b'a') && strip_shape(signature, element),
        Shape::DictEntry(key, value) => {
            strip(signature, b'{')
                && strip_shape(signature, key)
                && strip_shape(signature, value)
                && strip(signature, b'}')
        }
        Shape::Struct(fields) => {
            strip(signature, b'(')
                && fields.iter().all(|field| strip_shape(signature, field))
                && strip(signature, b')')
        }
    }
}

fn strip(signature: &mut &str, code: u8) -> bool {
    match signature.as_bytes() {
        [first, ..] if *first == code => {
            *signature = &signature[1..];
            true
        }
        _ => false,
    }
}

impl EncodeArgs for () {
    fn shapes(&self) -> &'static [&'static Shape] {
        &[]
    }

    fn encode_args(&self, _: &mut Writer<'_>) {}
}

impl DecodeArgs<'_> for () {
    const SHAPES: &'static [&'static Shape] = &[];

    fn decode_args(_: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(())
    }
}

macro_rules! args {
    ($(($($name:ident $index:tt),+))*) => {
        $(
            impl<$($name: Encode),+> EncodeArgs for ($($name,)+) {
                fn shapes(&self) -> &'static [&'static Shape] {
                    &[$(&<$name as Typed>::SHAPE),+]
                }

                fn encode_args(&self, writer: &mut Writer<'_>) {
                    $(self.$index.encode(writer);)+
                }
            }

            impl<'a, $($name: Decode<'a>),+> DecodeArgs<'a> for ($($name,)+) {
                const SHAPES: &'static [&'static Shape] = &[$(&<$name as Typed>::SHAPE),+];

                fn decode_args(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
                    Ok(($($name::decode(reader)?,)+))
                }
            }
        )*
    };
}

args! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}
