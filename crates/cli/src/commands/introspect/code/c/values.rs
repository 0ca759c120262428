//! Values in C: how they are passed, appended to messages, and read from them.

use std::fmt::Write as _;

use wire::signature::Type;

use super::super::model::{ArgumentModel, signature};

/// How a value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passing {
    /// As itself.
    Number(&'static str),
    /// As a text, which belongs to the message that it was read from, as a descriptor does.
    Text,
    Descriptor,
    /// As an array, which belongs to the message, and a count.
    Numbers {
        code: char,
        element: &'static str,
    },
    /// As an array of texts that ends with NULL; what was read is the caller's.
    Texts,
    /// By a function of the caller's, which appends or reads it.
    Function,
}

impl Passing {
    pub(super) fn of(kind: Type<'_>) -> Self {
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

    /// Whether what was read is gone with the message.
    pub(super) const fn borrows(self) -> bool {
        matches!(self, Self::Text | Self::Descriptor | Self::Numbers { .. })
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

/// The parameter for a value that is sent.
pub(super) fn given(value: &ArgumentModel<'_>) -> String {
    let name = &value.name;
    match Passing::of(value.kind) {
        Passing::Number(kind) => format!("{kind} {name}"),
        Passing::Text => format!("const char *{name}"),
        Passing::Descriptor => format!("int {name}"),
        Passing::Numbers { element, .. } => {
            format!("const {element} *{name}, size_t {name}_count")
        }
        Passing::Texts => format!("char **{name}"),
        Passing::Function => {
            format!("int (*{name})(sd_bus_message *message, void *data), void *{name}_data")
        }
    }
}

/// The parameter for a value that comes.
pub(super) fn got(value: &ArgumentModel<'_>) -> String {
    let name = &value.name;
    match Passing::of(value.kind) {
        Passing::Number(kind) => format!("{kind} *{name}"),
        Passing::Text => format!("const char **{name}"),
        Passing::Descriptor => format!("int *{name}"),
        Passing::Numbers { element, .. } => {
            format!("const {element} **{name}, size_t *{name}_count")
        }
        Passing::Texts => format!("char ***{name}"),
        Passing::Function => given(value),
    }
}

/// Appends values to a message.
pub(super) fn append(text: &mut String, values: &[ArgumentModel<'_>]) {
    for group in groups(values) {
        let ArgumentModel { name, .. } = &group[0];
        let appended = match Passing::of(group[0].kind) {
            Passing::Number(_) | Passing::Text | Passing::Descriptor => {
                format!("sd_bus_message_append(_m, \"{}\", {})", signature(group), names(group))
            }
            Passing::Numbers { code, .. } => format!(
                "sd_bus_message_append_array(\n                \
                 _m, '{code}', {name}, {name}_count * sizeof(*{name}))"
            ),
            Passing::Texts => format!("sd_bus_message_append_strv(_m, {name})"),
            Passing::Function => format!("{name}(_m, {name}_data)"),
        };
        step(text, &appended);
    }
}

/// Reads values from a message.
pub(super) fn read(text: &mut String, message: &str, values: &[ArgumentModel<'_>]) {
    for group in groups(values) {
        let ArgumentModel { name, kind, .. } = &group[0];
        match Passing::of(*kind) {
            Passing::Number(_) | Passing::Text | Passing::Descriptor => {
                let (types, names) = (signature(group), names(group));
                step(text, &format!("sd_bus_message_read({message}, \"{types}\", {names})"));
            }
            Passing::Numbers { code, .. } => {
                let array = format!("(const void **) {name}, {name}_count");
                step(
                    text,
                    &format!(
                        "sd_bus_message_read_array(\n                {message}, '{code}', {array})"
                    ),
                );
                let _ =
                    write!(text, "    if (r >= 0)\n        *{name}_count /= sizeof(**{name});\n");
            }
            Passing::Texts => step(text, &format!("sd_bus_message_read_strv({message}, {name})")),
            Passing::Function => {
                let skip = format!("sd_bus_message_skip({message}, \"{kind}\")");
                step(text, &format!("{name} ? {name}({message}, {name}_data) : {skip}"));
            }
        }
    }
}

/// Values that follow each other, those together that one function of sd-bus takes.
fn groups<'v, 'd>(
    values: &'v [ArgumentModel<'d>],
) -> impl Iterator<Item = &'v [ArgumentModel<'d>]> {
    let is_basic = |value: &ArgumentModel<'_>| {
        matches!(Passing::of(value.kind), Passing::Number(_) | Passing::Text | Passing::Descriptor)
    };
    values.chunk_by(move |one, next| is_basic(one) && is_basic(next))
}

fn names(values: &[ArgumentModel<'_>]) -> String {
    values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn step(text: &mut String, done: &str) {
    let _ = write!(text, "    if (r >= 0)\n        r = {done};\n");
}
