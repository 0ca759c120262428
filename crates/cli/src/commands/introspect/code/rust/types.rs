//! Rust types for the types of D-Bus.

use wire::signature::{Signature, Type};

use super::super::model::contains;

/// The types of a library for values that the standard library has no type for.
pub(super) struct LibraryTypes {
    path: NamedType,
    signature: NamedType,
    descriptor: NamedType,
    variant: NamedType,
}

struct NamedType {
    /// The type of an argument.
    parameter: &'static str,
    /// The type inside another type that borrows.
    borrowed: &'static str,
    owned: &'static str,
}

pub(super) const OF_DILIGENCE: LibraryTypes = LibraryTypes {
    path: NamedType::new("ObjectPath<'_>", "ObjectPath<'_>", "ObjectPathBuf"),
    signature: NamedType::new("Signature<'_>", "Signature<'_>", "SignatureBuf"),
    // A descriptor inside another type is an index.
    descriptor: NamedType::new("OwnedFd", "UnixFd", "UnixFd"),
    variant: NamedType::new("&Value", "Value", "Value"),
};

pub(super) const OF_ZBUS: LibraryTypes = LibraryTypes {
    path: NamedType::new("&zbus::ObjectPath<'_>", "zbus::ObjectPath<'_>", "zbus::OwnedObjectPath"),
    signature: NamedType::new("&zbus::Signature", "zbus::Signature", "zbus::Signature"),
    descriptor: NamedType::new("zbus::Fd<'_>", "zbus::Fd<'_>", "zbus::OwnedFd"),
    variant: NamedType::new("&zbus::Variant<'_>", "zbus::Variant<'_>", "zbus::OwnedVariant"),
};

impl NamedType {
    const fn new(parameter: &'static str, borrowed: &'static str, owned: &'static str) -> Self {
        Self { parameter, borrowed, owned }
    }
}

impl LibraryTypes {
    /// The type of a value that a method takes.
    pub(super) fn parameter(&self, kind: Type<'_>) -> String {
        match (self.named(kind), kind) {
            (Some(named), _) => named.parameter.to_owned(),
            (None, Type::String) => String::from("&str"),
            (None, Type::Array(element)) if !is_dict(element) => {
                format!("&[{}]", list(element, |kind| self.borrowed(kind)))
            }
            (None, Type::Array(_) | Type::Struct(_)) => format!("&{}", self.borrowed(kind)),
            (None, _) => self.owned(kind),
        }
    }

    /// The type of a value that borrows from a message.
    pub(super) fn borrowed(&self, kind: Type<'_>) -> String {
        match (self.named(kind), kind) {
            (Some(named), _) => named.borrowed.to_owned(),
            (None, Type::String) => String::from("&str"),
            (None, _) => container(kind, |kind| self.borrowed(kind))
                .unwrap_or_else(|| plain(kind).to_owned()),
        }
    }

    /// The type of a value that owns its data.
    pub(super) fn owned(&self, kind: Type<'_>) -> String {
        if let Some(named) = self.named(kind) {
            return named.owned.to_owned();
        }
        container(kind, |kind| self.owned(kind)).unwrap_or_else(|| plain(kind).to_owned())
    }

    const fn named(&self, kind: Type<'_>) -> Option<&NamedType> {
        Some(match kind {
            Type::ObjectPath => &self.path,
            Type::Signature => &self.signature,
            Type::UnixFd => &self.descriptor,
            Type::Variant => &self.variant,
            _ => return None,
        })
    }
}

/// True if a descriptor is inside another type.
pub(super) fn has_inner_descriptor(kind: Type<'_>) -> bool {
    kind != Type::UnixFd && contains(kind, |kind| kind == Type::UnixFd)
}

/// The type of a value that is the same in each library; empty for other types.
const fn plain(kind: Type<'_>) -> &'static str {
    match kind {
        Type::Byte => "u8",
        Type::Boolean => "bool",
        Type::Int16 => "i16",
        Type::Uint16 => "u16",
        Type::Int32 => "i32",
        Type::Uint32 => "u32",
        Type::Int64 => "i64",
        Type::Uint64 => "u64",
        Type::Double => "f64",
        Type::String => "String",
        _ => "",
    }
}

fn container(kind: Type<'_>, shown: impl Fn(Type<'_>) -> String) -> Option<String> {
    Some(match kind {
        Type::Array(element) if is_dict(element) => {
            format!("HashMap<{}>", list(element, shown))
        }
        Type::Array(element) => format!("Vec<{}>", list(element, shown)),
        Type::Struct(fields) => {
            let end = if fields.single().is_some() { "," } else { "" };
            format!("({}{end})", list(fields, shown))
        }
        Type::DictEntry(types) => list(types, shown),
        _ => return None,
    })
}

fn list(types: Signature<'_>, shown: impl Fn(Type<'_>) -> String) -> String {
    types.types().map(shown).collect::<Vec<_>>().join(", ")
}

fn is_dict(element: Signature<'_>) -> bool {
    element.as_str().starts_with('{')
}
