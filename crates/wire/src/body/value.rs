//! Values whose type is known only at run time.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::read::element_alignment;
use super::{Decode, Encode, ReadError, Reader, Shape, Typed, Writer};
use crate::limits::VALUE_DEPTH_MAX;
use crate::message::{Message, Reason};
use crate::names::ObjectPathBuf;
use crate::signature::{Signature, SignatureBuf, Type};

/// Any value. As an argument or a field it travels as a variant.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `y`
    Byte(u8),
    /// `b`
    Boolean(bool),
    /// `n`
    Int16(i16),
    /// `q`
    Uint16(u16),
    /// `i`
    Int32(i32),
    /// `u`
    Uint32(u32),
    /// `x`
    Int64(i64),
    /// `t`
    Uint64(u64),
    /// `d`
    Double(f64),
    /// `s`
    String(String),
    /// `o`
    ObjectPath(ObjectPathBuf),
    /// `g`
    Signature(SignatureBuf),
    /// `h`: an index into the descriptors that came with the message.
    UnixFd(u32),
    /// `v` inside a value.
    Variant(Box<Self>),
    /// `ay`, whose elements would be wasteful one by one.
    Bytes(Vec<u8>),
    /// `a`
    Array {
        /// The type of the elements, one complete type.
        element: SignatureBuf,
        /// The elements, all of that type. Dict entries are [`Value::DictEntry`].
        items: Vec<Self>,
    },
    /// `{..}`, only inside an array.
    DictEntry(Box<(Self, Self)>),
    /// `(...)`, with one field or more.
    Struct(Vec<Self>),
}

impl Value {
    /// Reads the value of the one complete type `kind`.
    pub fn read(kind: Type<'_>, reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Self::read_nested(kind, reader, 0)
    }

    /// Reads all arguments of a message.
    pub fn read_args(message: &Message<'_>) -> Result<Vec<Self>, ReadError> {
        let mut reader = message.reader();
        message.signature().types().map(|kind| Self::read(kind, &mut reader)).collect()
    }

    /// Appends the type of this value to `text`.
    pub fn push_signature(&self, text: &mut String) {
        match self {
            Self::Byte(_) => text.push('y'),
            Self::Boolean(_) => text.push('b'),
            Self::Int16(_) => text.push('n'),
            Self::Uint16(_) => text.push('q'),
            Self::Int32(_) => text.push('i'),
            Self::Uint32(_) => text.push('u'),
            Self::Int64(_) => text.push('x'),
            Self::Uint64(_) => text.push('t'),
            Self::Double(_) => text.push('d'),
            Self::String(_) => text.push('s'),
            Self::ObjectPath(_) => text.push('o'),
            Self::Signature(_) => text.push('g'),
            Self::UnixFd(_) => text.push('h'),
            Self::Variant(_) => text.push('v'),
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
            Self::Array { element, items } => {
                writer.array(element_alignment(element.as_signature()), |writer| {
                    items.iter().for_each(|item| item.write(writer));
                });
            }
            Self::DictEntry(entry) => writer.structure(|writer| {
                entry.0.write(writer);
                entry.1.write(writer);
            }),
            Self::Struct(fields) => {
                writer.structure(|writer| fields.iter().for_each(|field| field.write(writer)));
            }
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
            Type::Variant => Self::Variant(Self::read_variant(reader, depth + 1)?.into()),
            Type::Array(element) => Self::read_array(element, reader, depth + 1)?,
            Type::DictEntry(types) => Self::read_dict_entry(types, reader, depth + 1)?,
            Type::Struct(fields) => Self::Struct(Self::read_fields(fields, reader, depth + 1)?),
        })
    }

    fn read_variant(reader: &mut Reader<'_>, depth: usize) -> Result<Self, ReadError> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Reason::TooDeep.at(reader.at()).into());
        }
        let at = reader.at();
        let kind = reader.variant()?.single().ok_or(Reason::VariantNotSingle.at(at))?;
        Self::read_nested(kind, reader, depth)
    }

    fn read_array(
        element: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Self, ReadError> {
        let kind = element.single().ok_or(Reason::ValueTruncated.at(reader.at()))?;
        if kind == Type::Byte {
            return Ok(Self::Bytes(reader.bytes()?.to_vec()));
        }
        let end = reader.start_array(kind.alignment())?;
        let mut items = Vec::new();
        while reader.has_more(end)? {
            items.push(Self::read_nested(kind, reader, depth)?);
        }
        Ok(Self::Array { element: element.into(), items })
    }

    fn read_dict_entry(
        types: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Self, ReadError> {
        let at = reader.at();
        let mut fields = Self::read_fields(types, reader, depth)?.into_iter();
        match (fields.next(), fields.next()) {
            (Some(key), Some(value)) => Ok(Self::DictEntry(Box::new((key, value)))),
            _ => Err(Reason::ValueTruncated.at(at).into()),
        }
    }

    fn read_fields(
        types: Signature<'_>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Vec<Self>, ReadError> {
        reader.start_struct()?;
        types.types().map(|kind| Self::read_nested(kind, reader, depth)).collect()
    }
}

impl Typed for Value {
    const SHAPE: Shape = Shape::Variant;
}

impl Encode for Value {
    fn encode(&self, writer: &mut Writer<'_>) {
        let mut text = String::new();
        self.push_signature(&mut text);
        match Signature::new(&text) {
            Ok(signature) => writer.variant(signature, |writer| self.write(writer)),
            Err(error) => writer.fail(crate::message::WriteError::Signature(error.kind)),
        }
    }
}

impl Decode<'_> for Value {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Self::read_variant(reader, 1)
    }
}

/// Values of Rust types that are exactly one kind of value.
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
