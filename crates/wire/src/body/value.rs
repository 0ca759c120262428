//! Values whose type is known only at run time.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::read::element_alignment;
use super::{Decode, Encode, ReadError, Reader, Shape, Typed, Writer};
use crate::limits::VALUE_DEPTH_MAX;
use crate::message::{InvalidMessage, InvalidReason, Message, WriteError};
use crate::names::ObjectPathBuf;
use crate::signature::{Signature, SignatureBuf, Type};

/// A value of any type. As an argument or a field it is marshaled as a variant.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// An unsigned byte, `y`.
    Byte(u8),
    /// A boolean, type `b`.
    Boolean(bool),
    /// A signed 16-bit integer, `n`.
    Int16(i16),
    /// An unsigned 16-bit integer, `q`.
    Uint16(u16),
    /// A signed 32-bit integer, `i`.
    Int32(i32),
    /// An unsigned 32-bit integer, `u`.
    Uint32(u32),
    /// A signed 64-bit integer, `x`.
    Int64(i64),
    /// An unsigned 64-bit integer, `t`.
    Uint64(u64),
    /// A double-precision number, `d`.
    Double(f64),
    /// A string, type `s`.
    String(String),
    /// An object path, `o`.
    ObjectPath(ObjectPathBuf),
    /// A signature, type `g`.
    Signature(SignatureBuf),
    /// A file descriptor, `h`: an index into the descriptors of the message.
    UnixFd(u32),
    /// A variant, `v`, inside a value.
    Variant(Box<Self>),
    /// An array of bytes, `ay`, stored without a value for each byte.
    Bytes(Vec<u8>),
    /// An array, `a`, of any type except `y`.
    Array {
        /// The type of the elements: one complete type, but not `y`, for which there is
        /// [`Value::Bytes`].
        element: SignatureBuf,
        /// The elements, all of that type. Dict entries are [`Value::DictEntry`].
        items: Vec<Self>,
    },
    /// A dict entry, `{..}`, which occurs only inside an array.
    DictEntry(Box<(Self, Self)>),
    /// A struct, `(...)`, with one or more fields.
    Struct(Vec<Self>),
}

impl Value {
    /// Reads the value of the one complete type `kind`, as [`Signature::types`] returns it.
    ///
    /// # Errors
    ///
    /// If the value is not valid.
    ///
    /// # Panics
    ///
    /// If `kind` is an array or a dict entry that was constructed with a wrong number of types.
    pub fn read(kind: Type<'_>, reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Self::read_nested(kind, reader, 0)
    }

    /// Reads all arguments of a message.
    ///
    /// # Errors
    ///
    /// If the body is not valid.
    pub fn read_args(message: &Message<'_>) -> Result<Vec<Self>, ReadError> {
        let mut reader = message.reader();
        message.signature().types().map(|kind| Self::read(kind, &mut reader)).collect()
    }

    /// Appends the signature of this value to `text`.
    pub fn push_signature(&self, text: &mut String) {
        match self {
            Self::Bytes(_) => text.push_str("ay"),
            Self::Array { element, .. } => {
                text.push('a');
                text.push_str(element.as_str());
            }
            Self::DictEntry(entry) => {
                text.push('{');
                entry.0.push_signature(text);
                entry.1.push_signature(text);
                text.push('}');
            }
            Self::Struct(fields) => {
                text.push('(');
                fields.iter().for_each(|field| field.push_signature(text));
                text.push(')');
            }
            _ => text.push(self.type_code().into()),
        }
    }

    /// The first type code of the signature of this value.
    const fn type_code(&self) -> u8 {
        match self {
            Self::Byte(_) => b'y',
            Self::Boolean(_) => b'b',
            Self::Int16(_) => b'n',
            Self::Uint16(_) => b'q',
            Self::Int32(_) => b'i',
            Self::Uint32(_) => b'u',
            Self::Int64(_) => b'x',
            Self::Uint64(_) => b't',
            Self::Double(_) => b'd',
            Self::String(_) => b's',
            Self::ObjectPath(_) => b'o',
            Self::Signature(_) => b'g',
            Self::UnixFd(_) => b'h',
            Self::Variant(_) => b'v',
            Self::Bytes(_) | Self::Array { .. } => b'a',
            Self::DictEntry(_) => b'{',
            Self::Struct(_) => b'(',
        }
    }

    /// Writes the value itself, not inside a variant.
    pub fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Byte(value) => writer.byte(*value),
            Self::Boolean(value) => writer.boolean(*value),
            Self::Int16(value) => writer.int16(*value),
            Self::Uint16(value) => writer.uint16(*value),
            Self::Int32(value) => writer.int32(*value),
            Self::Uint32(value) | Self::UnixFd(value) => writer.uint32(*value),
            Self::Int64(value) => writer.int64(*value),
            Self::Uint64(value) => writer.uint64(*value),
            Self::Double(value) => writer.double(*value),
            Self::String(text) => writer.string(text),
            Self::ObjectPath(path) => writer.object_path(path.as_path()),
            Self::Signature(signature) => writer.signature(signature.as_signature()),
            Self::Variant(value) => value.encode(writer),
            Self::Bytes(bytes) => writer.bytes(bytes),
            Self::Array { element, items } => Self::write_array(element, items, writer),
            Self::DictEntry(entry) => writer.structure(|writer| {
                entry.0.write(writer);
                entry.1.write(writer);
            }),
            Self::Struct(fields) => {
                writer.structure(|writer| fields.iter().for_each(|field| field.write(writer)));
            }
        }
    }

    fn write_array(element: &SignatureBuf, items: &[Self], writer: &mut Writer<'_>) {
        let element = element.as_signature();
        let is_element = |item: &Self| item.strip_type(element.as_bytes()) == Some(&[]);
        if element.single().is_none() || !items.iter().all(is_element) {
            writer.fail(WriteError::ElementType);
        }
        writer.array(element_alignment(element), |writer| {
            items.iter().for_each(|item| item.write(writer));
        });
    }

    /// The rest of `types` after the type of this value, which is the first one; `None` if it is
    /// not.
    fn strip_type<'t>(&self, types: &'t [u8]) -> Option<&'t [u8]> {
        let inside = types.strip_prefix(&[self.type_code()])?;
        match self {
            Self::Bytes(_) => inside.strip_prefix(b"y"),
            Self::Array { element, .. } => inside.strip_prefix(element.as_str().as_bytes()),
            Self::DictEntry(entry) => {
                entry.1.strip_type(entry.0.strip_type(inside)?)?.strip_prefix(b"}")
            }
            Self::Struct(fields) => fields
                .iter()
                .try_fold(inside, |types, field| field.strip_type(types))?
                .strip_prefix(b")"),
            _ => Some(inside),
        }
    }

    fn read_nested(
        kind: Type<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Self, ReadError> {
        Ok(match kind {
            Type::Byte => Self::Byte(reader.byte()?),
            Type::Boolean => Self::Boolean(reader.boolean()?),
            Type::Int16 => Self::Int16(reader.int16()?),
            Type::Uint16 => Self::Uint16(reader.uint16()?),
            Type::Int32 => Self::Int32(reader.int32()?),
            Type::Uint32 => Self::Uint32(reader.uint32()?),
            Type::Int64 => Self::Int64(reader.int64()?),
            Type::Uint64 => Self::Uint64(reader.uint64()?),
            Type::Double => Self::Double(reader.double()?),
            Type::String => Self::String(reader.string()?.into()),
            Type::ObjectPath => Self::ObjectPath(reader.object_path()?.into()),
            Type::Signature => Self::Signature(reader.signature()?.into()),
            Type::UnixFd => Self::UnixFd(reader.uint32()?),
            Type::Variant => Self::Variant(Self::read_variant(reader, depth)?.into()),
            Type::Array(element) => Self::read_array(element, reader, depth)?,
            Type::DictEntry(types) => Self::read_dict_entry(types, reader, depth)?,
            Type::Struct(types) => Self::Struct(Self::read_fields(types, reader, depth)?),
        })
    }

    fn read_variant(reader: &mut Reader<'_>, depth: usize) -> Result<Self, ReadError> {
        let inside = enter(reader, depth)?;
        let at = reader.at();
        let kind = reader.variant()?.single().ok_or(InvalidReason::VariantNotSingle.at(at))?;
        Self::read_nested(kind, reader, inside)
    }

    fn read_array(
        element: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Self, ReadError> {
        let inside = enter(reader, depth)?;
        let kind = element.single().expect("an array has one element type");
        if kind == Type::Byte {
            return Ok(Self::Bytes(reader.bytes()?.to_vec()));
        }
        let end = reader.start_array(kind.alignment())?;
        let mut items = Vec::new();
        while reader.has_more(end)? {
            items.push(Self::read_nested(kind, reader, inside)?);
        }
        Ok(Self::Array { element: element.into(), items })
    }

    fn read_dict_entry(
        types: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Self, ReadError> {
        let fields = Self::read_fields(types, reader, depth)?;
        let entry = <[Self; 2]>::try_from(fields).expect("a dict entry has a key and a value");
        Ok(Self::DictEntry(Box::new(entry.into())))
    }

    fn read_fields(
        types: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Vec<Self>, ReadError> {
        let inside = enter(reader, depth)?;
        reader.start_struct()?;
        types.types().map(|kind| Self::read_nested(kind, reader, inside)).collect()
    }
}

/// The depth inside a container that begins here and is itself inside `depth` others.
fn enter(reader: &Reader<'_>, depth: usize) -> Result<usize, InvalidMessage> {
    if depth >= VALUE_DEPTH_MAX {
        return Err(InvalidReason::TooDeep.at(reader.at()));
    }
    Ok(depth + 1)
}

impl Typed for Value {
    const SHAPE: Shape = Shape::Variant;
}

impl Encode for Value {
    fn encode(&self, writer: &mut Writer<'_>) {
        let mut text = String::new();
        self.push_signature(&mut text);
        match Signature::new(&text) {
            Ok(signature) if signature.single().is_none() => writer.fail(WriteError::ElementType),
            Ok(signature) => writer.variant(signature, |writer| self.write(writer)),
            Err(error) => writer.fail(WriteError::Signature(error.kind)),
        }
    }
}

impl Decode<'_> for Value {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Self::read_variant(reader, 0)
    }
}

/// Conversions from Rust types with exactly one kind of value.
macro_rules! from {
    ($($type:ty => $variant:ident;)*) => {
        $(
            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::$variant(value.into())
                }
            }
        )*
    };
}

from! {
    u8 => Byte;
    bool => Boolean;
    i16 => Int16;
    u16 => Uint16;
    i32 => Int32;
    u32 => Uint32;
    i64 => Int64;
    u64 => Uint64;
    f64 => Double;
    &str => String;
    String => String;
    ObjectPathBuf => ObjectPath;
    SignatureBuf => Signature;
}
