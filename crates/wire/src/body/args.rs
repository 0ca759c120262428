//! Whole bodies: zero or more arguments, as tuples.

use super::inline_signature::InlineSignature;
use super::shape::is_shaped;
use super::{Decode, Encode, ReadError, Reader, Shape, Typed, Writer};
use crate::signature::{Signature, SignatureBuf};

/// The arguments of a message to encode: a tuple of [`Encode`] types, `()` for none.
pub trait EncodeArgs {
    /// The types of the arguments, in order.
    const SHAPES: &'static [&'static Shape];

    /// Writes all arguments, in order.
    fn encode_args(&self, writer: &mut Writer<'_>);
}

/// The arguments of a message to decode: a tuple of [`Decode`] types, `()` for none.
pub trait DecodeArgs<'a>: Sized {
    /// The types of the arguments, in order.
    const SHAPES: &'static [&'static Shape];

    /// Reads all arguments.
    ///
    /// # Errors
    ///
    /// If a value is invalid, or is not one of the expected values.
    fn decode_args(reader: &mut Reader<'a>) -> Result<Self, ReadError>;

    /// Reads all arguments of a body with the types `found`.
    ///
    /// # Errors
    ///
    /// If the types differ, or a value is invalid.
    fn decode_body(found: Signature<'_>, reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if !Self::fits(found.as_bytes()) {
            return Err(ReadError::Signature { expected: Self::signature(), found: found.into() });
        }
        Self::decode_args(reader)
    }

    /// Returns true if the text of a signature has exactly the types of the arguments.
    fn fits(found: &[u8]) -> bool {
        is_shaped(found, Self::SHAPES)
    }

    /// The signature of all arguments.
    fn signature() -> SignatureBuf {
        let signature = InlineSignature::of(Self::SHAPES);
        signature.check().map(SignatureBuf::from).unwrap_or_default()
    }
}

impl EncodeArgs for () {
    const SHAPES: &'static [&'static Shape] = &[];

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
                const SHAPES: &'static [&'static Shape] = &[$(&<$name as Typed>::SHAPE),+];

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
