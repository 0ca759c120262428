//! Values in Python: their type hints, and their conversion to and from GLib.

use wire::signature::{Signature, Type};

use super::super::model::contains;

/// The type hint of a value to send.
pub(super) fn hint(kind: Type<'_>) -> String {
    shown(kind, hint, "GLib.Variant")
}

/// The type hint of a received value; a variant is replaced by its content.
pub(super) fn hint_of_result(kind: Type<'_>) -> String {
    shown(kind, hint_of_result, "Any")
}

fn shown(kind: Type<'_>, inside: fn(Type<'_>) -> String, variant: &str) -> String {
    let list = |types: Signature<'_>| types.types().map(inside).collect::<Vec<_>>().join(", ");
    match kind {
        Type::Boolean => String::from("bool"),
        Type::Double => String::from("float"),
        Type::String | Type::ObjectPath | Type::Signature => String::from("str"),
        Type::Variant => variant.to_owned(),
        Type::Array(element) if element.as_str() == "y" => String::from("bytes"),
        Type::Array(element) => match element.as_str().strip_prefix('{') {
            Some(_) => format!("dict[{}]", list(element)),
            None => format!("list[{}]", list(element)),
        },
        Type::Struct(fields) => format!("tuple[{}]", list(fields)),
        Type::DictEntry(types) => list(types),
        _ => String::from("int"),
    }
}

/// Converts a value for GLib, which represents descriptors by indexes in a list.
pub(super) fn to_glib(kind: Type<'_>, value: String, depth: usize) -> String {
    match kind {
        Type::UnixFd => format!("_fds.append({value})"),
        _ if contains(kind, is_descriptor) => converted_elements(kind, &value, depth, to_glib),
        _ => value,
    }
}

/// Converts a value from GLib: lists of numbers to bytes, and indexes to descriptors.
pub(super) fn from_glib(kind: Type<'_>, value: String, depth: usize) -> String {
    match kind {
        Type::UnixFd => format!("_got.get({value})"),
        Type::Array(element) if element.as_str() == "y" => format!("bytes({value})"),
        _ if contains(kind, is_converted) => converted_elements(kind, &value, depth, from_glib),
        _ => value,
    }
}

/// Converts each element of a container.
fn converted_elements(
    kind: Type<'_>,
    value: &str,
    depth: usize,
    make: fn(Type<'_>, String, usize) -> String,
) -> String {
    let (one, key) = (format!("_one{depth}"), format!("_key{depth}"));
    match kind {
        Type::Array(element) => match element.types().next() {
            Some(Type::DictEntry(types)) => {
                let mut types = types.types();
                let made = |kind: Option<Type<'_>>, name: &str| {
                    kind.map(|kind| make(kind, name.to_owned(), depth + 1)).unwrap_or_default()
                };
                let (made_key, made_value) = (made(types.next(), &key), made(types.next(), &one));
                format!("{{{made_key}: {made_value} for {key}, {one} in {value}.items()}}")
            }
            Some(element) => {
                format!("[{} for {one} in {value}]", make(element, one.clone(), depth + 1))
            }
            None => value.to_owned(),
        },
        Type::Struct(fields) => {
            let fields = fields.types().enumerate();
            let fields: Vec<_> =
                fields.map(|(at, kind)| make(kind, format!("{value}[{at}]"), depth)).collect();
            tuple(&fields)
        }
        _ => value.to_owned(),
    }
}

pub(super) fn is_descriptor(kind: Type<'_>) -> bool {
    kind == Type::UnixFd
}

/// Returns true if the Python type differs from what GLib returns.
pub(super) fn is_converted(kind: Type<'_>) -> bool {
    let is_bytes = matches!(kind, Type::Array(element) if element.as_str() == "y");
    is_bytes || is_descriptor(kind)
}

pub(super) fn tuple(values: &[String]) -> String {
    match values {
        [] => String::from("()"),
        [one] => format!("({one},)"),
        several => format!("({})", several.join(", ")),
    }
}
