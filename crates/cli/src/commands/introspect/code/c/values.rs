//! Template filters for values in C: parameters, and statements that append values to messages and
//! read them.

use minijinja::value::Serde;
use wire::signature::Type;

use super::super::template::{TemplateValue, type_of};

/// The way in which a value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passing {
    /// By value, with this C type.
    Number(&'static str),
    /// A string that is borrowed from the message; a descriptor is borrowed in the same way.
    Text,
    Descriptor,
    /// An array that is borrowed from the message, and the number of its elements.
    Numbers {
        code: char,
        element: &'static str,
    },
    /// An array of strings that ends with NULL; the caller owns an array that was read.
    Texts,
    /// A function of the caller that appends or reads the value.
    Function,
}

impl Passing {
    fn of(kind: Type<'_>) -> Self {
        match kind {
            Type::String | Type::ObjectPath | Type::Signature => Self::Text,
            Type::UnixFd => Self::Descriptor,
            Type::Array(element) => match (element.as_str(), element.single()) {
                ("s", _) => Self::Texts,
                (code, Some(kind)) if !matches!(kind, Type::Boolean) => number(kind)
                    .and_then(|element| Some((code.chars().next()?, element)))
                    .map_or(Self::Function, |(code, element)| Self::Numbers { code, element }),
                _ => Self::Function,
            },
            kind => number(kind).map_or(Self::Function, Self::Number),
        }
    }
}

const fn number(kind: Type<'_>) -> Option<&'static str> {
    Some(match kind {
        Type::Byte => "uint8_t",
        Type::Boolean => "int",
        Type::Int16 => "int16_t",
        Type::Uint16 => "uint16_t",
        Type::Int32 => "int32_t",
        Type::Uint32 => "uint32_t",
        Type::Int64 => "int64_t",
        Type::Uint64 => "uint64_t",
        Type::Double => "double",
        _ => return None,
    })
}

/// Returns the parameter for a value to send.
pub(super) fn send_parameter(name: &str, kind: &str) -> String {
    match Passing::of(type_of(kind)) {
        Passing::Number(kind) => format!("{kind} {name}"),
        Passing::Text => format!("const char *{name}"),
        Passing::Descriptor => format!("int {name}"),
        Passing::Numbers { element, .. } => format!("const {element} *{name}, size_t {name}_count"),
        Passing::Texts => format!("char **{name}"),
        Passing::Function => {
            format!("int (*{name})(sd_bus_message *message, void *data), void *{name}_data")
        }
    }
}

/// Returns the parameter for a received value.
pub(super) fn receive_parameter(name: &str, kind: &str) -> String {
    match Passing::of(type_of(kind)) {
        Passing::Number(kind) => format!("{kind} *{name}"),
        Passing::Text => format!("const char **{name}"),
        Passing::Descriptor => format!("int *{name}"),
        Passing::Numbers { element, .. } => {
            format!("const {element} **{name}, size_t *{name}_count")
        }
        Passing::Texts => format!("char ***{name}"),
        Passing::Function => send_parameter(name, kind),
    }
}

/// Returns true if one of these values becomes invalid with its message.
pub(super) fn borrow(Serde(values): Serde<Vec<TemplateValue>>) -> bool {
    let is_borrowed = |one: &TemplateValue| {
        matches!(
            Passing::of(one.kind()),
            Passing::Text | Passing::Descriptor | Passing::Numbers { .. }
        )
    };
    values.iter().any(is_borrowed)
}

/// Returns the statements that append values to a message.
pub(super) fn append(Serde(values): Serde<Vec<TemplateValue>>) -> Vec<String> {
    let statements = groups(&values).map(|group| {
        let TemplateValue { name, .. } = &group[0];
        match Passing::of(group[0].kind()) {
            Passing::Number(_) | Passing::Text | Passing::Descriptor => {
                format!("r = sd_bus_message_append(_m, \"{}\", {})", signature(group), names(group))
            }
            Passing::Numbers { code, .. } => format!(
                "r = sd_bus_message_append_array(\n                \
                 _m, '{code}', {name}, {name}_count * sizeof(*{name}))"
            ),
            Passing::Texts => format!("r = sd_bus_message_append_strv(_m, {name})"),
            Passing::Function => format!("r = {name}(_m, {name}_data)"),
        }
    });
    statements.collect()
}

/// Returns the statements that read values from a message.
pub(super) fn read(Serde(values): Serde<Vec<TemplateValue>>, message: &str) -> Vec<String> {
    let mut statements = Vec::new();
    for group in groups(&values) {
        let (name, kind) = (&group[0].name, group[0].kind());
        let reading = match Passing::of(group[0].kind()) {
            Passing::Number(_) | Passing::Text | Passing::Descriptor => {
                let (types, names) = (signature(group), names(group));
                format!("sd_bus_message_read({message}, \"{types}\", {names})")
            }
            Passing::Numbers { code, .. } => format!(
                "sd_bus_message_read_array(\n                {message}, '{code}', \
                 (const void **) {name}, {name}_count)"
            ),
            Passing::Texts => format!("sd_bus_message_read_strv({message}, {name})"),
            Passing::Function => format!(
                "{name} ? {name}({message}, {name}_data) : sd_bus_message_skip({message}, \"{kind}\")"
            ),
        };
        statements.push(format!("r = {reading}"));
        if matches!(Passing::of(group[0].kind()), Passing::Numbers { .. }) {
            statements.push(format!("*{name}_count /= sizeof(**{name})"));
        }
    }
    statements
}

/// Groups consecutive values that one sd-bus call can process.
fn groups(values: &[TemplateValue]) -> impl Iterator<Item = &[TemplateValue]> {
    let is_basic = |value: &TemplateValue| {
        matches!(
            Passing::of(value.kind()),
            Passing::Number(_) | Passing::Text | Passing::Descriptor
        )
    };
    values.chunk_by(move |one, next| is_basic(one) && is_basic(next))
}

fn signature(values: &[TemplateValue]) -> String {
    values.iter().map(|value| value.kind().to_string()).collect()
}

fn names(values: &[TemplateValue]) -> String {
    values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(", ")
}
