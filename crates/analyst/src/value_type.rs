//! Types of values, parsed from signatures for the page, which has no parser of its own.

use std::collections::BTreeMap;

use serde::Serialize;
use wire::body::Value;
use wire::signature::{Signature, Type};

/// A type. Arrays of bytes and dictionaries have their own kinds, because the page shows and edits
/// them differently from other arrays.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueType {
    /// The signature of the type.
    pub signature: String,
    /// The type in words.
    pub words: String,
    /// The structure of the type.
    pub shape: TypeShape,
}

/// The structure of a type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TypeShape {
    /// A type that contains no other values.
    Basic {
        /// The type code in signatures.
        code: BasicCode,
    },
    /// A value together with its type.
    Variant,
    /// An array of bytes.
    Bytes,
    /// Any other array that is not a dictionary.
    Array {
        /// The type of its elements.
        element: Box<ValueType>,
    },
    /// A dictionary: an array of entries.
    Dictionary {
        /// The type of its keys, which is basic.
        key: Box<ValueType>,
        /// The type of its values.
        value: Box<ValueType>,
    },
    /// A structure of several fields.
    Structure {
        /// The types of its fields.
        fields: Vec<ValueType>,
    },
}

/// The type code of a basic type in signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BasicCode {
    /// An unsigned integer of 8 bits.
    Y,
    /// A boolean, encoded in 32 bits.
    B,
    /// A signed integer of 16 bits.
    N,
    /// An unsigned integer of 16 bits.
    Q,
    /// A signed integer of 32 bits.
    I,
    /// An unsigned integer of 32 bits.
    U,
    /// A signed integer of 64 bits.
    X,
    /// An unsigned integer of 64 bits.
    T,
    /// A floating-point number of 64 bits.
    D,
    /// A string in UTF-8.
    S,
    /// The path of an object.
    O,
    /// The signature of types.
    G,
    /// An index into the file descriptors of the message.
    H,
}

/// Parses a signature; `None` if the text is not a signature.
pub fn value_types(signature: &str) -> Option<Vec<ValueType>> {
    let signature = Signature::new(signature).ok()?;
    Some(signature.types().map(ValueType::of).collect())
}

/// All types that occur in an answer, by their signatures.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TypeTable(BTreeMap<String, ValueType>);

impl TypeTable {
    /// Adds the types of a signature, and all types inside them. Ignores a text that is not a
    /// signature.
    pub fn add(&mut self, signature: &str) {
        value_types(signature).into_iter().flatten().for_each(|one| self.insert(one));
    }

    /// Adds the type of a value, and the types of all values inside it.
    pub fn add_value(&mut self, value: &Value) {
        let signature = notation::signature(value);
        self.add(&signature);
        // Only variants contain values whose types are not in the signature.
        if signature.contains('v') {
            self.add_inner(value);
        }
    }

    fn add_inner(&mut self, value: &Value) {
        match value {
            Value::Variant(inside) => self.add_value(inside),
            Value::Array { items, .. } | Value::Struct(items) => {
                items.iter().for_each(|item| self.add_inner(item));
            }
            Value::DictEntry(entry) => {
                self.add_inner(&entry.0);
                self.add_inner(&entry.1);
            }
            _ => {}
        }
    }

    fn insert(&mut self, kind: ValueType) {
        if self.0.contains_key(&kind.signature) {
            return;
        }
        match &kind.shape {
            TypeShape::Basic { .. } | TypeShape::Variant | TypeShape::Bytes => {}
            TypeShape::Array { element } => self.insert((**element).clone()),
            TypeShape::Dictionary { key, value } => {
                self.insert((**key).clone());
                self.insert((**value).clone());
            }
            TypeShape::Structure { fields } => {
                fields.iter().for_each(|field| self.insert(field.clone()));
            }
        }
        self.0.insert(kind.signature.clone(), kind);
    }
}

impl ValueType {
    fn of(kind: Type<'_>) -> Self {
        Self { signature: kind.to_string(), words: words(kind), shape: TypeShape::of(kind) }
    }

    /// The types of the key and the value of a dictionary entry.
    fn pair_of(types: Signature<'_>) -> Option<(Box<Self>, Box<Self>)> {
        let mut types = types.types().map(|kind| Box::new(Self::of(kind)));
        types.next().zip(types.next())
    }
}

impl TypeShape {
    fn of(kind: Type<'_>) -> Self {
        if let Some(code) = BasicCode::of(kind) {
            return Self::Basic { code };
        }
        match kind {
            Type::Array(element) => match element.single() {
                Some(Type::Byte) => Self::Bytes,
                Some(Type::DictEntry(entry)) => match ValueType::pair_of(entry) {
                    Some((key, value)) => Self::Dictionary { key, value },
                    None => Self::Variant,
                },
                Some(element) => Self::Array { element: Box::new(ValueType::of(element)) },
                None => Self::Variant,
            },
            Type::Struct(fields) | Type::DictEntry(fields) => {
                Self::Structure { fields: fields.types().map(ValueType::of).collect() }
            }
            _ => Self::Variant,
        }
    }
}

impl BasicCode {
    const fn of(kind: Type<'_>) -> Option<Self> {
        Some(match kind {
            Type::Byte => Self::Y,
            Type::Boolean => Self::B,
            Type::Int16 => Self::N,
            Type::Uint16 => Self::Q,
            Type::Int32 => Self::I,
            Type::Uint32 => Self::U,
            Type::Int64 => Self::X,
            Type::Uint64 => Self::T,
            Type::Double => Self::D,
            Type::String => Self::S,
            Type::ObjectPath => Self::O,
            Type::Signature => Self::G,
            Type::UnixFd => Self::H,
            Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_) => return None,
        })
    }
}

fn words_of(types: Signature<'_>) -> String {
    types.types().map(words).collect::<Vec<_>>().join(", ")
}

fn words(kind: Type<'_>) -> String {
    let word = match kind {
        Type::Byte => "byte",
        Type::Boolean => "boolean",
        Type::Int16 => "16-bit integer",
        Type::Uint16 => "16-bit unsigned integer",
        Type::Int32 => "32-bit integer",
        Type::Uint32 => "32-bit unsigned integer",
        Type::Int64 => "64-bit integer",
        Type::Uint64 => "64-bit unsigned integer",
        Type::Double => "floating-point number",
        Type::UnixFd => "file descriptor",
        Type::String => "string",
        Type::ObjectPath => "object path",
        Type::Signature => "signature",
        Type::Variant => "variant",
        Type::Array(element) => {
            return match element.single() {
                Some(Type::DictEntry(entry)) => {
                    let [key, value] = [0, 1].map(|at| entry.types().nth(at).map(words));
                    let (key, value) = (key.unwrap_or_default(), value.unwrap_or_default());
                    format!("dictionary of {key} to {value}")
                }
                _ => format!("array of {}", words_of(element)),
            };
        }
        Type::Struct(fields) | Type::DictEntry(fields) => {
            return format!("structure of {}", words_of(fields));
        }
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_in_words() {
        for (signature, expected) in [
            ("s", "string"),
            ("as", "array of string"),
            ("aay", "array of array of byte"),
            ("a{sv}", "dictionary of string to variant"),
            (
                "a{oa{sa{sv}}}",
                "dictionary of object path to dictionary of string to dictionary of string to variant",
            ),
            (
                "(ia(sd))",
                "structure of 32-bit integer, array of structure of string, floating-point number",
            ),
        ] {
            let types = value_types(signature).expect("a signature");
            assert_eq!(types[0].words, expected, "{signature}");
        }
    }

    #[test]
    fn types_keep_their_signatures() {
        for signature in
            ["ybnqiuxtdsogh", "v", "ay", "aay", "a{sv}", "(s(iv)a(xt))", "a(ya{y(dd)})"]
        {
            let types = value_types(signature).expect("a signature");
            let written: String = types.iter().map(|one| one.signature.as_str()).collect();
            assert_eq!(written, signature);
        }
        for text in ["a", "z", "()", "{sv}", "a{vs}", " ", "\u{202e}s"] {
            assert_eq!(value_types(text), None, "{text}");
        }
    }

    #[test]
    fn a_table_has_all_types_inside_of_a_value() {
        let inside = Value::Array {
            element: Signature::new("(sx)").expect("a signature").into(),
            items: Vec::new(),
        };
        let mut table = TypeTable::default();
        table.add_value(&Value::Struct(vec![Value::Byte(1), Value::Variant(Box::new(inside))]));
        let types: Vec<&str> = table.0.keys().map(String::as_str).collect();
        assert_eq!(types, ["(sx)", "(yv)", "a(sx)", "s", "v", "x", "y"]);
        table.add("a{");
        assert_eq!(table.0.len(), 7);
    }

    #[test]
    fn types_have_shapes() {
        let json = serde_json::to_value(value_types("a{sa(yv)}ay")).expect("texts");
        assert_eq!(json[0]["shape"]["key"]["shape"]["code"], "s");
        let element = &json[0]["shape"]["value"]["shape"]["element"];
        assert_eq!(element["shape"]["kind"], "structure");
        assert_eq!(element["shape"]["fields"][1]["shape"]["kind"], "variant");
        assert_eq!(json[1]["shape"]["kind"], "bytes");
    }
}
