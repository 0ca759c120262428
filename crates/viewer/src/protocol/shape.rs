//! The shape of a JSON value, read from a JSON schema as `schemars` writes it.

use serde_json::{Map, Value};

/// Which way a value travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// The program writes it. An absent value is written as `null`, or left out, and never both.
    ToPage,
    /// The page writes it. What has a default can be left out.
    FromPage,
}

/// The shape of a JSON value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    /// Any value.
    Any,
    Null,
    Boolean,
    String,
    Number,
    /// A whole number.
    Integer,
    /// A whole number that is not negative.
    Unsigned,
    /// One of these texts.
    Words(Vec<String>),
    /// A type with a name.
    Named(String),
    List(Box<Self>),
    Tuple(Vec<Self>),
    /// An object with values of one shape under any keys.
    Map(Box<Self>),
    Fields(Vec<Field>),
    /// An object with exactly one of these fields.
    OneField(Vec<Field>),
    /// Objects that a field with a fixed text tells apart: its name, and the rest of each.
    Tagged(String, Vec<(String, Self)>),
    /// One of several shapes.
    Either(Vec<Self>),
    /// Several shapes at once.
    All(Vec<Self>),
}

/// A field of an object.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) is_optional: bool,
    pub(super) shape: Shape,
}

impl Shape {
    pub(super) fn of(schema: &Value, direction: Direction) -> Self {
        let Some(schema) = schema.as_object() else { return Self::Any };
        let mut parts = Vec::new();
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            parts.push(Self::Named(name.trim_start_matches("#/$defs/").to_owned()));
        }
        parts.extend(typed(schema, direction));
        for key in ["oneOf", "anyOf"] {
            if let Some(alternatives) = schema.get(key).and_then(Value::as_array) {
                parts.push(Self::either(alternatives, direction));
            }
        }
        match parts.len() {
            0 => Self::Any,
            1 => parts.remove(0),
            _ => Self::all(parts),
        }
    }

    fn either(alternatives: &[Value], direction: Direction) -> Self {
        let shapes: Vec<_> = alternatives.iter().map(|one| Self::of(one, direction)).collect();
        let words: Option<Vec<_>> = shapes.iter().map(Self::only_word).collect();
        if let Some(words) = words {
            return Self::Words(words.concat());
        }
        let fields: Option<Vec<_>> = shapes.iter().map(Self::only_field).collect();
        match fields {
            Some(fields) => Self::OneField(fields),
            None => tagged(&shapes).unwrap_or(Self::Either(shapes)),
        }
    }

    /// Several shapes at once. An object with fields that also has at most one of some other fields
    /// becomes one object in which those are optional.
    fn all(parts: Vec<Self>) -> Self {
        let mut fields = Vec::new();
        for part in &parts {
            match part {
                Self::Fields(own) => fields.extend(own.clone()),
                Self::OneField(others) => fields.extend(optional(others)),
                Self::Either(shapes) => match shapes.as_slice() {
                    [Self::OneField(others), Self::Any] => fields.extend(optional(others)),
                    _ => return Self::All(parts),
                },
                _ => return Self::All(parts),
            }
        }
        Self::Fields(fields)
    }

    fn only_word(&self) -> Option<Vec<String>> {
        match self {
            Self::Words(words) => Some(words.clone()),
            _ => None,
        }
    }

    fn only_field(&self) -> Option<Field> {
        match self {
            Self::Fields(fields) => match fields.as_slice() {
                [field] if !field.is_optional && field.shape.only_word().is_none() => {
                    Some(field.clone())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The shape without `null`.
    fn non_null(self) -> Self {
        match self {
            Self::Either(mut shapes) => {
                shapes.retain(|shape| *shape != Self::Null);
                match shapes.len() {
                    1 => shapes.remove(0),
                    _ => Self::Either(shapes),
                }
            }
            shape => shape,
        }
    }
}

fn optional(fields: &[Field]) -> impl Iterator<Item = Field> {
    fields.iter().cloned().map(|field| Field { is_optional: true, ..field })
}

/// The shape that the keyword `type` describes, or the one fixed text.
fn typed(schema: &Map<String, Value>, direction: Direction) -> Option<Shape> {
    if let Some(word) = schema.get("const") {
        return Some(Shape::Words(vec![word.as_str().expect("a text").to_owned()]));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words = words.iter().map(|word| word.as_str().expect("a text").to_owned());
        return Some(Shape::Words(words.collect()));
    }
    match schema.get("type")? {
        Value::Array(types) => {
            let types = types.iter().filter_map(Value::as_str);
            Some(Shape::Either(types.map(|one| basic(one, schema, direction)).collect()))
        }
        one => Some(basic(one.as_str().expect("a type"), schema, direction)),
    }
}

fn basic(name: &str, schema: &Map<String, Value>, direction: Direction) -> Shape {
    match name {
        "null" => Shape::Null,
        "boolean" => Shape::Boolean,
        "string" => Shape::String,
        "number" => Shape::Number,
        "integer" if schema.get("minimum").is_some_and(|minimum| *minimum == 0) => Shape::Unsigned,
        "integer" => Shape::Integer,
        "array" => match schema.get("prefixItems").and_then(Value::as_array) {
            Some(items) => {
                Shape::Tuple(items.iter().map(|one| Shape::of(one, direction)).collect())
            }
            None => Shape::List(Box::new(Shape::of(&schema["items"], direction))),
        },
        "object" => object(schema, direction),
        other => panic!("the type {other} is not known here"),
    }
}

fn object(schema: &Map<String, Value>, direction: Direction) -> Shape {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return match schema.get("additionalProperties") {
            Some(values) if values.is_object() => {
                Shape::Map(Box::new(Shape::of(values, direction)))
            }
            _ => Shape::Fields(Vec::new()),
        };
    };
    let field = |(name, property): (&String, &Value)| {
        let is_optional = !is_required(name);
        let shape = Shape::of(property, direction);
        let is_left_out = is_optional && direction == Direction::ToPage;
        Field {
            name: name.clone(),
            description: property["description"].as_str().unwrap_or_default().to_owned(),
            is_optional,
            shape: if is_left_out { shape.non_null() } else { shape },
        }
    };
    Shape::Fields(properties.iter().map(field).collect())
}

/// Objects that a field with a fixed text tells apart.
fn tagged(shapes: &[Shape]) -> Option<Shape> {
    let tag = tag_of(shapes.first()?)?.0;
    let variants = shapes.iter().map(|shape| {
        let (name, word, rest) = tag_of(shape)?;
        (name == tag).then_some((word, rest))
    });
    Some(Shape::Tagged(tag.clone(), variants.collect::<Option<_>>()?))
}

/// The first field with a fixed text, that text, and the object without the field.
fn tag_of(shape: &Shape) -> Option<(String, String, Shape)> {
    match shape {
        Shape::Fields(fields) => {
            let word = |field: &Field| match field.shape.only_word()?.as_slice() {
                [word] => Some(word.clone()),
                _ => None,
            };
            let (at, word) =
                fields.iter().enumerate().find_map(|(at, one)| Some((at, word(one)?)))?;
            let mut rest = fields.clone();
            let tag = rest.remove(at);
            Some((tag.name, word, Shape::Fields(rest)))
        }
        Shape::All(parts) => {
            let [named @ Shape::Named(_), fields] = parts.as_slice() else { return None };
            let (name, word, rest) = tag_of(fields)?;
            (rest == Shape::Fields(Vec::new())).then(|| (name, word, named.clone()))
        }
        _ => None,
    }
}
