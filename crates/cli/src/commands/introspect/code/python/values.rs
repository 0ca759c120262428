//! Values in Python: their types, and how GLib is given them and gives them.

use wire::signature::{Signature, Type};

use super::super::model::contains;

/// The type of a value that is passed.
pub(super) fn hint(kind: Type<'_>) -> String {
    shown(kind, hint, "GLib.Variant")
}

/// The type of a value that has come: a variant is what is in it.
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

/// A value for GLib: of a descriptor, which one of those that go along it is.
pub(super) fn given(kind: Type<'_>, value: String, depth: usize) -> String {
    match kind {
        Type::UnixFd => format!("_fds.append({value})"),
        _ if contains(kind, is_descriptor) => within(kind, &value, depth, given),
        _ => value,
    }
}

/// A value as it comes from GLib, with bytes for numbers, and descriptors for which one they are.
pub(super) fn got(kind: Type<'_>, value: String, depth: usize) -> String {
    match kind {
        Type::UnixFd => format!("_got.get({value})"),
        Type::Array(element) if element.as_str() == "y" => format!("bytes({value})"),
        _ if contains(kind, is_converted) => within(kind, &value, depth, got),
        _ => value,
    }
}

/// A container with each of what is in it made into something else.
fn within(
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

/// Whether GLib has it otherwise than Python should.
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
