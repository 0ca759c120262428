//! Signatures: the types of values ("Type System").
//!
//! A [`Signature`] is a sequence of complete types, checked once; its iterator yields a [`Type`]
//! for each. Container types hold the signatures of their contents.
//!
//! ```
//! use diligence_wire::signature::{Signature, Type};
//!
//! let signature = Signature::new("ia{sv}")?;
//! let types: Vec<Type<'_>> = signature.types().collect();
//! assert_eq!(types[0], Type::Int32);
//! let Type::Array(element) = types[1] else { panic!() };
//! assert_eq!(element.as_str(), "{sv}");
//! # Ok::<(), diligence_wire::signature::SignatureError>(())
//! ```

use alloc::boxed::Box;
use core::fmt;

use crate::limits::{ARRAY_DEPTH_MAX, SIGNATURE_LEN_MAX, STRUCT_DEPTH_MAX};

/// A valid signature: zero or more complete types.
///
/// The nesting limits count all arrays around a type, and all structs. dbus-daemon counts only
/// directly nested arrays, without a struct between them. So it accepts signatures with more than
/// 32 nested arrays, which the specification forbids.
///
/// Only the element of an array can also be a single dict entry, such as `{sv}`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Signature<'a>(&'a str);

impl<'a> Signature<'a> {
    /// The signature of an empty body, without types.
    pub const EMPTY: Signature<'static> = Signature("");

    /// Checks a text as a signature ("Valid Signatures").
    ///
    /// # Errors
    ///
    /// If the text violates one of the rules in [`SignatureErrorKind`].
    pub fn new(text: &'a str) -> Result<Self, SignatureError> {
        check(text.as_bytes())?;
        Ok(Self(text))
    }

    /// Like [`new`](Self::new), for bytes from the wire.
    ///
    /// # Errors
    ///
    /// If the bytes violate one of the rules in [`SignatureErrorKind`].
    #[inline]
    pub const fn from_bytes(bytes: &'a [u8]) -> Result<Self, SignatureError> {
        if let Err(error) = check(bytes) {
            return Err(error);
        }
        match core::str::from_utf8(bytes) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(SignatureErrorKind::UnknownType.at(error.valid_up_to())),
        }
    }

    /// The signature of a single basic type; `None` if `code` is not a basic type.
    #[inline]
    pub(crate) const fn basic(code: u8) -> Option<Self> {
        Some(Self(match code {
            b'y' => "y",
            b'b' => "b",
            b'n' => "n",
            b'q' => "q",
            b'i' => "i",
            b'u' => "u",
            b'x' => "x",
            b't' => "t",
            b'd' => "d",
            b's' => "s",
            b'o' => "o",
            b'g' => "g",
            b'h' => "h",
            _ => return None,
        }))
    }

    /// The signature as text.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// The signature as bytes: one type code each.
    #[inline]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0.as_bytes()
    }

    /// True if the signature has no types.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The complete types, in order.
    #[inline]
    pub const fn types(self) -> CompleteTypes<'a> {
        CompleteTypes { rest: self.0 }
    }

    /// The type, if there is exactly one, as in a variant.
    pub fn single(self) -> Option<Type<'a>> {
        let mut types = self.types();
        types.next().filter(|_| types.rest.is_empty())
    }
}

impl fmt::Display for Signature<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A signature that owns its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SignatureBuf(Box<str>);

impl SignatureBuf {
    /// The signature as a borrowed [`Signature`].
    pub fn as_signature(&self) -> Signature<'_> {
        Signature(&self.0)
    }

    /// The signature as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Signature<'_>> for SignatureBuf {
    fn from(signature: Signature<'_>) -> Self {
        Self(signature.0.into())
    }
}

impl fmt::Display for SignatureBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A single complete type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type<'a> {
    /// An unsigned byte, `y`.
    Byte,
    /// A boolean, type `b`.
    Boolean,
    /// A signed 16-bit integer, `n`.
    Int16,
    /// An unsigned 16-bit integer, `q`.
    Uint16,
    /// A signed 32-bit integer, `i`.
    Int32,
    /// An unsigned 32-bit integer, `u`.
    Uint32,
    /// A signed 64-bit integer, `x`.
    Int64,
    /// An unsigned 64-bit integer, `t`.
    Uint64,
    /// A double-precision number, `d`.
    Double,
    /// A string, type `s`.
    String,
    /// An object path, `o`.
    ObjectPath,
    /// A signature, type `g`.
    Signature,
    /// A file descriptor, `h`: an index into the descriptors of the message.
    UnixFd,
    /// A variant, type `v`.
    Variant,
    /// An array, `a`, with the type of its elements.
    Array(Signature<'a>),
    /// A struct, `(...)`, with the types of its fields, at least one.
    Struct(Signature<'a>),
    /// A dict entry, `{..}`, with the types of key and value. It occurs only as the element of an
    /// array.
    DictEntry(Signature<'a>),
}

impl Type<'_> {
    /// The alignment of values of this type, in bytes ("Marshaling (Wire Format)").
    pub const fn alignment(self) -> usize {
        match self {
            Self::Byte | Self::Signature | Self::Variant => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Boolean
            | Self::Int32
            | Self::Uint32
            | Self::String
            | Self::ObjectPath
            | Self::UnixFd
            | Self::Array(_) => 4,
            Self::Int64 | Self::Uint64 | Self::Double | Self::Struct(_) | Self::DictEntry(_) => 8,
        }
    }
}

impl fmt::Display for Type<'_> {
    /// Writes the signature of the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte => f.write_str("y"),
            Self::Boolean => f.write_str("b"),
            Self::Int16 => f.write_str("n"),
            Self::Uint16 => f.write_str("q"),
            Self::Int32 => f.write_str("i"),
            Self::Uint32 => f.write_str("u"),
            Self::Int64 => f.write_str("x"),
            Self::Uint64 => f.write_str("t"),
            Self::Double => f.write_str("d"),
            Self::String => f.write_str("s"),
            Self::ObjectPath => f.write_str("o"),
            Self::Signature => f.write_str("g"),
            Self::UnixFd => f.write_str("h"),
            Self::Variant => f.write_str("v"),
            Self::Array(element) => write!(f, "a{element}"),
            Self::Struct(fields) => write!(f, "({fields})"),
            Self::DictEntry(types) => write!(f, "{{{types}}}"),
        }
    }
}

/// The complete types of a [`Signature`], in order.
#[derive(Clone, Debug)]
pub struct CompleteTypes<'a> {
    rest: &'a str,
}

impl<'a> CompleteTypes<'a> {
    /// The types that were not yielded yet.
    pub const fn rest(&self) -> Signature<'a> {
        Signature(self.rest)
    }
}

impl<'a> Iterator for CompleteTypes<'a> {
    type Item = Type<'a>;

    fn next(&mut self) -> Option<Type<'a>> {
        let text = self.rest;
        let end = complete_type_end(text.as_bytes())?;
        self.rest = &text[end..];
        Some(match text.as_bytes()[0] {
            b'a' => Type::Array(Signature(&text[1..end])),
            b'(' => Type::Struct(Signature(&text[1..end - 1])),
            b'{' => Type::DictEntry(Signature(&text[1..end - 1])),
            code => basic(code).unwrap_or(Type::Variant),
        })
    }
}

/// The reason why a text is not a valid signature, and the byte at which it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignatureError {
    /// The rule that the text violates.
    pub kind: SignatureErrorKind,
    /// Offset in bytes from the start of the signature.
    pub at: usize,
}

/// The rules that a signature can violate ("Valid Signatures").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SignatureErrorKind {
    /// Longer than [`SIGNATURE_LEN_MAX`] bytes.
    TooLong,
    /// A byte is not a type code.
    UnknownType,
    /// An `a` is not followed by an element type.
    ArrayWithoutElement,
    /// More than [`ARRAY_DEPTH_MAX`] arrays are nested.
    ArrayTooDeep,
    /// More than [`STRUCT_DEPTH_MAX`] structs are nested.
    StructTooDeep,
    /// A struct has no fields.
    StructEmpty,
    /// A `(` has no matching `)`.
    StructNotClosed,
    /// A `)` has no matching `(`.
    StructNotOpened,
    /// A `{` is not the element type of an array.
    DictEntryOutsideArray,
    /// The key of a dict entry is a container.
    DictEntryKeyNotBasic,
    /// A dict entry has fewer than two types.
    DictEntryTooShort,
    /// A dict entry has more than two types.
    DictEntryTooLong,
    /// A `{` has no matching `}`.
    DictEntryNotClosed,
    /// A `}` has no matching `{`.
    DictEntryNotOpened,
}

impl SignatureErrorKind {
    const fn at(self, at: usize) -> SignatureError {
        SignatureError { kind: self, at }
    }
}

impl fmt::Display for SignatureErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the signature is longer than 255 bytes",
            Self::UnknownType => "a byte is not a type code",
            Self::ArrayWithoutElement => "an array has no element type",
            Self::ArrayTooDeep => "more than 32 arrays are nested",
            Self::StructTooDeep => "more than 32 structs are nested",
            Self::StructEmpty => "a struct has no field",
            Self::StructNotClosed => "a struct is not closed",
            Self::StructNotOpened => "a ')' has no matching '('",
            Self::DictEntryOutsideArray => "a dict entry is not an array's element",
            Self::DictEntryKeyNotBasic => "the key of a dict entry is a container",
            Self::DictEntryTooShort => "a dict entry has fewer than two types",
            Self::DictEntryTooLong => "a dict entry has more than two types",
            Self::DictEntryNotClosed => "a dict entry is not closed",
            Self::DictEntryNotOpened => "a '}' has no matching '{'",
        })
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.at)
    }
}

impl core::error::Error for SignatureError {}

/// The end of the first complete type of a *valid* signature; `None` if there is none.
///
/// Counting brackets is enough, because they are known to match.
#[inline]
pub(crate) fn complete_type_end(signature: &[u8]) -> Option<usize> {
    let mut open = 0_usize;
    for (at, code) in signature.iter().enumerate() {
        match code {
            // All codes except brackets are letters, and a struct can have many of them.
            b'a'..=b'z' if open > 0 => continue,
            b'a' => continue,
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return Some(at + 1);
        }
    }
    None
}

const fn basic(code: u8) -> Option<Type<'static>> {
    Some(match code {
        b'y' => Type::Byte,
        b'b' => Type::Boolean,
        b'n' => Type::Int16,
        b'q' => Type::Uint16,
        b'i' => Type::Int32,
        b'u' => Type::Uint32,
        b'x' => Type::Int64,
        b't' => Type::Uint64,
        b'd' => Type::Double,
        b's' => Type::String,
        b'o' => Type::ObjectPath,
        b'g' => Type::Signature,
        b'h' => Type::UnixFd,
        _ => return None,
    })
}

const fn check(text: &[u8]) -> Result<(), SignatureError> {
    if text.len() > SIGNATURE_LEN_MAX {
        return Err(SignatureErrorKind::TooLong.at(SIGNATURE_LEN_MAX));
    }
    let mut at = 0;
    while at < text.len() {
        at = match check_complete_type(text, at, Depth::NONE) {
            Ok(end) => end,
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

/// The nesting depth of a type. It is limited, so the recursion below is too.
#[derive(Clone, Copy)]
struct Depth {
    arrays: usize,
    structs: usize,
}

impl Depth {
    const NONE: Self = Self { arrays: 0, structs: 0 };
}

/// Checks the complete type that begins at `at`, and returns its end.
#[inline]
const fn check_complete_type(
    text: &[u8],
    at: usize,
    depth: Depth,
) -> Result<usize, SignatureError> {
    use SignatureErrorKind as Kind;
    match text[at] {
        b'v' => Ok(at + 1),
        code if basic(code).is_some() => Ok(at + 1),
        b'a' => check_array(text, at, depth),
        b'(' => check_struct(text, at, depth),
        b')' => Err(Kind::StructNotOpened.at(at)),
        b'{' => Err(Kind::DictEntryOutsideArray.at(at)),
        b'}' => Err(Kind::DictEntryNotOpened.at(at)),
        _ => Err(Kind::UnknownType.at(at)),
    }
}

const fn check_array(text: &[u8], at: usize, depth: Depth) -> Result<usize, SignatureError> {
    use SignatureErrorKind as Kind;
    let depth = Depth { arrays: depth.arrays + 1, ..depth };
    if depth.arrays > ARRAY_DEPTH_MAX {
        return Err(Kind::ArrayTooDeep.at(at));
    }
    match byte_at(text, at + 1) {
        None | Some(b')' | b'}') => Err(Kind::ArrayWithoutElement.at(at)),
        Some(b'{') => check_dict_entry(text, at + 1, depth),
        Some(_) => check_complete_type(text, at + 1, depth),
    }
}

const fn check_struct(text: &[u8], open: usize, depth: Depth) -> Result<usize, SignatureError> {
    use SignatureErrorKind as Kind;
    let depth = Depth { structs: depth.structs + 1, ..depth };
    if depth.structs > STRUCT_DEPTH_MAX {
        return Err(Kind::StructTooDeep.at(open));
    }
    let mut at = open + 1;
    loop {
        match byte_at(text, at) {
            None => return Err(Kind::StructNotClosed.at(open)),
            Some(b')') if at == open + 1 => return Err(Kind::StructEmpty.at(open)),
            Some(b')') => return Ok(at + 1),
            Some(_) => match check_complete_type(text, at, depth) {
                Ok(end) => at = end,
                Err(error) => return Err(error),
            },
        }
    }
}

const fn check_dict_entry(text: &[u8], open: usize, depth: Depth) -> Result<usize, SignatureError> {
    use SignatureErrorKind as Kind;
    let key = open + 1;
    match byte_at(text, key) {
        None => return Err(Kind::DictEntryNotClosed.at(open)),
        Some(b'}') => return Err(Kind::DictEntryTooShort.at(key)),
        Some(b'a' | b'(' | b'{' | b'v') => return Err(Kind::DictEntryKeyNotBasic.at(key)),
        Some(_) => {
            if let Err(error) = check_complete_type(text, key, depth) {
                return Err(error);
            }
        }
    }
    let value = key + 1;
    let end = match byte_at(text, value) {
        None => return Err(Kind::DictEntryNotClosed.at(open)),
        Some(b'}') => return Err(Kind::DictEntryTooShort.at(value)),
        Some(_) => match check_complete_type(text, value, depth) {
            Ok(end) => end,
            Err(error) => return Err(error),
        },
    };
    match byte_at(text, end) {
        None => Err(Kind::DictEntryNotClosed.at(open)),
        Some(b'}') => Ok(end + 1),
        Some(_) => Err(Kind::DictEntryTooLong.at(end)),
    }
}

const fn byte_at(text: &[u8], at: usize) -> Option<u8> {
    if at < text.len() { Some(text[at]) } else { None }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::SignatureErrorKind::*;
    use super::*;

    fn check(text: &str, expected: Result<(), (SignatureErrorKind, usize)>) {
        let found = Signature::new(text).map(|_| ()).map_err(|e| (e.kind, e.at));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn signatures_are_checked_against_the_grammar() {
        for text in ["", "ybnqiuxtdsoghv", "a{sv}", "aa{y(ii)}", "(a(vs)a{t(as)})", "a{oa{sv}}"] {
            check(text, Ok(()));
        }
        check("z", Err((UnknownType, 0)));
        check("r", Err((UnknownType, 0)));
        check("a", Err((ArrayWithoutElement, 0)));
        check("(a)", Err((ArrayWithoutElement, 1)));
        check("()", Err((StructEmpty, 0)));
        check("i(i", Err((StructNotClosed, 1)));
        check("i)", Err((StructNotOpened, 1)));
        check("{sv}", Err((DictEntryOutsideArray, 0)));
        check("}", Err((DictEntryNotOpened, 0)));
        check("a{", Err((DictEntryNotClosed, 1)));
        check("a{}", Err((DictEntryTooShort, 2)));
        check("a{s}", Err((DictEntryTooShort, 3)));
        check("a{svs}", Err((DictEntryTooLong, 4)));
        check("a{sv", Err((DictEntryNotClosed, 1)));
        check("a{vs}", Err((DictEntryKeyNotBasic, 2)));
        check("a{(s)s}", Err((DictEntryKeyNotBasic, 2)));
        check("a{zs}", Err((UnknownType, 2)));
    }

    #[test]
    fn signature_depth_and_length_limits_follow_the_specification() {
        let nested = |open: &str, n: usize, close: &str| {
            let text: String = [open.repeat(n), "y".into(), close.repeat(n)].concat();
            Signature::new(&text).map(|_| ()).map_err(|e| e.kind)
        };
        assert_eq!(nested("a", 32, ""), Ok(()));
        assert_eq!(nested("a", 33, ""), Err(ArrayTooDeep));
        assert_eq!(nested("(", 32, ")"), Ok(()));
        assert_eq!(nested("(", 33, ")"), Err(StructTooDeep));
        check(&"y".repeat(255), Ok(()));
        check(&"y".repeat(256), Err((TooLong, 255)));
    }

    #[test]
    fn complete_types_are_yielded_in_order() {
        let types: Vec<_> = Signature::new("ya{s(iv)}(g)v").unwrap().types().collect();
        let signature = |text| Signature::new(text).unwrap();
        let Type::Array(entry) = types[1] else { panic!("{types:?}") };
        assert_eq!(entry.types().next(), Some(Type::DictEntry(signature("s(iv)"))));
        assert_eq!(types[0], Type::Byte);
        assert_eq!(types[2..], [Type::Struct(signature("g")), Type::Variant]);
        assert_eq!(signature("ai").single(), Some(Type::Array(signature("i"))));
        assert_eq!(signature("ii").single(), None);
    }
}
