//! The D-Bus types of Rust types, and their comparison with signatures.

use super::validate::alignment;

/// A D-Bus type as a tree that is known at compile time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A type with a single code, except `v`.
    Basic(u8),
    /// A variant, type `v`.
    Variant,
    /// An array, `a`, with the type of its elements.
    Array(&'static Self),
    /// A dict entry, `{..}`, with the types of key and value.
    DictEntry(&'static Self, &'static Self),
    /// A struct, `(...)`, with the types of its fields.
    Struct(&'static [&'static Self]),
}

impl Shape {
    /// The alignment of a value, in bytes.
    pub const fn alignment(&self) -> usize {
        match self {
            Self::Basic(code) => alignment(*code),
            Self::Variant => 1,
            Self::Array(_) => 4,
            Self::DictEntry(..) | Self::Struct(_) => 8,
        }
    }
}

/// Returns true if `signature` consists of these types.
pub(super) fn is_shaped(signature: &[u8], shapes: &[&Shape]) -> bool {
    let mut rest = signature;
    shapes.iter().all(|shape| strip_shape(&mut rest, shape)) && rest.is_empty()
}

/// Removes the text of `shape` from the front of `signature`; returns true if it was there.
fn strip_shape(signature: &mut &[u8], shape: &Shape) -> bool {
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

fn strip(signature: &mut &[u8], code: u8) -> bool {
    match *signature {
        [first, rest @ ..] if *first == code => {
            *signature = rest;
            true
        }
        _ => false,
    }
}
