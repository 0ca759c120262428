//! Rust types for the types of D-Bus.

use wire::signature::{Signature, Type};

/// The type of a value that a method takes.
pub(super) fn parameter(kind: Type<'_>) -> String {
    match kind {
        Type::String => String::from("&str"),
        Type::Array(element) if !is_dict(element) => format!("&[{}]", list(element, borrowed)),
        Type::UnixFd => borrowed(kind),
        Type::ObjectPath | Type::Signature | Type::Variant | Type::Array(_) | Type::Struct(_) => {
            format!("&{}", borrowed(kind))
        }
        _ => owned(kind),
    }
}

/// The type of a value that borrows from a message.
pub(super) fn borrowed(kind: Type<'_>) -> String {
    let name = match kind {
        Type::String => "&str",
        Type::ObjectPath => "zbus::ObjectPath<'_>",
        Type::UnixFd => "zbus::Fd<'_>",
        Type::Variant => "zbus::Variant<'_>",
        _ => return container(kind, borrowed).unwrap_or_else(|| owned(kind)),
    };
    name.to_owned()
}

/// The type of a value that owns its data.
pub(super) fn owned(kind: Type<'_>) -> String {
    let name = match kind {
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
        Type::ObjectPath => "zbus::OwnedObjectPath",
        Type::Signature => "zbus::Signature",
        Type::UnixFd => "zbus::OwnedFd",
        Type::Variant => "zbus::OwnedVariant",
        Type::Array(_) | Type::Struct(_) | Type::DictEntry(_) => {
            return container(kind, owned).unwrap_or_default();
        }
    };
    name.to_owned()
}

fn container(kind: Type<'_>, shown: fn(Type<'_>) -> String) -> Option<String> {
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

fn list(types: Signature<'_>, shown: fn(Type<'_>) -> String) -> String {
    types.types().map(shown).collect::<Vec<_>>().join(", ")
}

fn is_dict(element: Signature<'_>) -> bool {
    element.as_str().starts_with('{')
}
