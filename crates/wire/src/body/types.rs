//! Rust types and their D-Bus types.
//!
//! | Rust | D-Bus |
//! | --- | --- |
//! | `u8 bool i16 u16 i32 u32 i64 u64 f64` | `y b n q i u x t d` |
//! | `&str String`, names | `s` |
//! | [`ObjectPath`], [`ObjectPathBuf`] | `o` |
//! | [`Signature`], [`SignatureBuf`] | `g` |
//! | [`UnixFd`] | `h` |
//! | [`Variant<T>`](Variant), [`Value`](super::Value) | `v` |
//! | `&[T] Vec<T> [T; N]` | `a` |
//! | `BTreeMap<K, V>`, `HashMap<K, V>` with the feature `std` | `a{..}` |
//! | tuples | `(...)` |

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::inline_signature::InlineSignature;
use super::shape::is_shaped;
use super::{ReadError, Reader, Shape, Writer};
use crate::message::WriteError;
use crate::names::{
    BusName, ErrorName, InterfaceName, MemberName, ObjectPath, ObjectPathBuf, WellKnownName,
};
use crate::signature::{Signature, SignatureBuf};

/// A Rust type that has a D-Bus type.
pub trait Typed {
    /// The D-Bus type of the Rust type.
    const SHAPE: Shape;
}

/// A Rust type whose values can be encoded.
pub trait Encode: Typed {
    /// Writes one value of this type.
    fn encode(&self, writer: &mut Writer<'_>);

    /// Writes the elements of an array. Types whose arrays are plain bytes write all of them at
    /// once.
    fn encode_elements(elements: &[Self], writer: &mut Writer<'_>)
    where
        Self: Sized,
    {
        for element in elements {
            element.encode(writer);
        }
    }
}

/// A Rust type whose values can be decoded; it may borrow from the message.
pub trait Decode<'a>: Typed + Sized {
    /// Reads one value.
    ///
    /// # Errors
    ///
    /// If the value is invalid, or is not one of the expected values.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError>;

    /// Reads an array of this type.
    ///
    /// # Errors
    ///
    /// If the array or an element is invalid.
    fn decode_array(reader: &mut Reader<'a>) -> Result<Vec<Self>, ReadError> {
        let end = reader.start_array(Self::SHAPE.alignment())?;
        let mut elements = Vec::new();
        while reader.has_more(end)? {
            elements.push(Self::decode(reader)?);
        }
        Ok(elements)
    }
}

/// The D-Bus type of a Rust type as text.
///
/// ```
/// use std::collections::BTreeMap;
/// use diligence_wire::body::{Value, signature_of};
/// assert_eq!(signature_of::<BTreeMap<String, Value>>()?.as_str(), "a{sv}");
/// # Ok::<(), diligence_wire::message::WriteError>(())
/// ```
///
/// # Errors
///
/// If the signature would be too long, or nested too deeply.
pub fn signature_of<T: Typed + ?Sized>() -> Result<SignatureBuf, WriteError> {
    InlineSignature::of(&[&T::SHAPE]).check().map(SignatureBuf::from)
}

impl<T: Typed + ?Sized> Typed for &T {
    const SHAPE: Shape = T::SHAPE;
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, writer: &mut Writer<'_>) {
        (**self).encode(writer);
    }
}

/// Types that the cursors read and write with one method.
macro_rules! numbers {
    ($($type:ty, $code:literal, $method:ident;)*) => {
        $(
            impl Typed for $type {
                const SHAPE: Shape = Shape::Basic($code);
            }

            impl Encode for $type {
                fn encode(&self, writer: &mut Writer<'_>) {
                    writer.$method(*self);
                }
            }

            impl Decode<'_> for $type {
                fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
                    Ok(reader.$method()?)
                }
            }
        )*
    };
}

numbers! {
    bool, b'b', boolean;
    i16, b'n', int16;
    u16, b'q', uint16;
    i32, b'i', int32;
    u32, b'u', uint32;
    i64, b'x', int64;
    u64, b't', uint64;
    f64, b'd', double;
}

impl Typed for u8 {
    const SHAPE: Shape = Shape::Basic(b'y');
}

impl Encode for u8 {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.byte(*self);
    }

    fn encode_elements(elements: &[Self], writer: &mut Writer<'_>) {
        writer.raw(elements);
    }
}

impl Decode<'_> for u8 {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(reader.byte()?)
    }

    fn decode_array(reader: &mut Reader<'_>) -> Result<Vec<Self>, ReadError> {
        Ok(reader.bytes()?.to_vec())
    }
}

impl Typed for str {
    const SHAPE: Shape = Shape::Basic(b's');
}

impl Encode for str {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.string(self);
    }
}

impl<'a> Decode<'a> for &'a str {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(reader.string()?)
    }
}

impl Typed for String {
    const SHAPE: Shape = str::SHAPE;
}

impl Encode for String {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.string(self);
    }
}

impl Decode<'_> for String {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(reader.string()?.into())
    }
}

/// Names are marshaled as strings, and validated when they are read.
macro_rules! names {
    ($($name:ident)*) => {
        $(
            impl Typed for $name<'_> {
                const SHAPE: Shape = str::SHAPE;
            }

            impl Encode for $name<'_> {
                fn encode(&self, writer: &mut Writer<'_>) {
                    writer.string(self.as_str());
                }
            }

            impl<'a> Decode<'a> for $name<'a> {
                fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
                    let text = reader.string()?;
                    $name::new(text).map_err(|error| {
                        ReadError::Value(alloc::format!("\"{text}\" is not a valid {}: {error}", stringify!($name)))
                    })
                }
            }
        )*
    };
}

names! { BusName WellKnownName InterfaceName MemberName ErrorName }

impl Typed for ObjectPath<'_> {
    const SHAPE: Shape = Shape::Basic(b'o');
}

impl Encode for ObjectPath<'_> {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.object_path(*self);
    }
}

impl<'a> Decode<'a> for ObjectPath<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(reader.object_path()?)
    }
}

impl Typed for ObjectPathBuf {
    const SHAPE: Shape = Shape::Basic(b'o');
}

impl Encode for ObjectPathBuf {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.object_path(self.as_path());
    }
}

impl Decode<'_> for ObjectPathBuf {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(reader.object_path()?.into())
    }
}

impl Typed for Signature<'_> {
    const SHAPE: Shape = Shape::Basic(b'g');
}

impl Encode for Signature<'_> {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.signature(*self);
    }
}

impl<'a> Decode<'a> for Signature<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(reader.signature()?)
    }
}

impl Typed for SignatureBuf {
    const SHAPE: Shape = Shape::Basic(b'g');
}

impl Encode for SignatureBuf {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.signature(self.as_signature());
    }
}

impl Decode<'_> for SignatureBuf {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(reader.signature()?.into())
    }
}

/// A descriptor in a body: the index into the descriptors of the message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UnixFd(pub u32);

impl Typed for UnixFd {
    const SHAPE: Shape = Shape::Basic(b'h');
}

impl Encode for UnixFd {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.uint32(self.0);
    }
}

impl Decode<'_> for UnixFd {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Ok(Self(reader.uint32()?))
    }
}

/// A variant with a value of a known type: encodes any type, and decodes only this type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variant<T>(pub T);

impl<T> Typed for Variant<T> {
    const SHAPE: Shape = Shape::Variant;
}

impl<T: Typed> Variant<T> {
    const TEXT: &'static InlineSignature = &InlineSignature::of(&[&T::SHAPE]);
    /// The signature of the value, checked at compile time.
    const SIGNATURE: Result<Signature<'static>, WriteError> = Self::TEXT.check();
}

impl<T: Encode> Encode for Variant<T> {
    fn encode(&self, writer: &mut Writer<'_>) {
        match Self::SIGNATURE {
            Ok(signature) => writer.variant(signature, |writer| self.0.encode(writer)),
            Err(error) => writer.fail(error),
        }
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Variant<T> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let found = reader.variant()?;
        if !is_shaped(found.as_bytes(), &[&T::SHAPE]) {
            let expected = signature_of::<T>().unwrap_or_default();
            return Err(ReadError::Variant { expected, found: found.into() });
        }
        T::decode(reader).map(Self)
    }
}

impl<T: Typed> Typed for [T] {
    const SHAPE: Shape = Shape::Array(&T::SHAPE);
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.array(T::SHAPE.alignment(), |writer| T::encode_elements(self, writer));
    }
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    const SHAPE: Shape = Shape::Array(&T::SHAPE);
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, writer: &mut Writer<'_>) {
        self.as_slice().encode(writer);
    }
}

impl<T: Typed> Typed for Vec<T> {
    const SHAPE: Shape = Shape::Array(&T::SHAPE);
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer<'_>) {
        self.as_slice().encode(writer);
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        T::decode_array(reader)
    }
}

/// Maps are marshaled as arrays of dict entries.
macro_rules! map {
    ($map:ident, $($bound:path),*) => {
        impl<K: Typed, V: Typed> Typed for $map<K, V> {
            const SHAPE: Shape = Shape::Array(&Shape::DictEntry(&K::SHAPE, &V::SHAPE));
        }

        impl<K: Encode, V: Encode> Encode for $map<K, V> {
            fn encode(&self, writer: &mut Writer<'_>) {
                writer.array(8, |writer| {
                    for (key, value) in self {
                        writer.structure(|writer| {
                            key.encode(writer);
                            value.encode(writer);
                        });
                    }
                });
            }
        }

        impl<'a, K: Decode<'a> $(+ $bound)*, V: Decode<'a>> Decode<'a> for $map<K, V> {
            fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
                let end = reader.start_array(8)?;
                let mut map = Self::default();
                while reader.has_more(end)? {
                    reader.start_struct()?;
                    let key = K::decode(reader)?;
                    map.insert(key, V::decode(reader)?);
                }
                Ok(map)
            }
        }
    };
}

map!(BTreeMap, Ord);

#[cfg(feature = "std")]
mod hash_map {
    use std::collections::HashMap;

    use super::*;

    map!(HashMap, Eq, core::hash::Hash);
}

/// Tuples are marshaled as structs.
macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => {
        $(
            impl<$($name: Typed),+> Typed for ($($name,)+) {
                const SHAPE: Shape = Shape::Struct(&[$(&$name::SHAPE),+]);
            }

            impl<$($name: Encode),+> Encode for ($($name,)+) {
                fn encode(&self, writer: &mut Writer<'_>) {
                    writer.structure(|writer| {
                        $(self.$index.encode(writer);)+
                    });
                }
            }

            impl<'a, $($name: Decode<'a>),+> Decode<'a> for ($($name,)+) {
                fn decode(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
                    reader.start_struct()?;
                    Ok(($($name::decode(reader)?,)+))
                }
            }
        )*
    };
}

tuples! {
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
