//! Inferring the type of a value without a type annotation.

use wire::signature::{Signature, Type};

use super::node::{GvariantContent, GvariantNode};

/// The set of types that a value can have.
#[derive(Clone, PartialEq, Debug)]
enum TypePattern {
    /// Any type, such as the elements of an empty array.
    Any,
    /// An integer type; the default is `i`.
    Whole,
    /// A number with a fraction: a double.
    Fraction,
    /// A text type; the default is a string.
    Text,
    /// Exactly the type with this signature.
    Exactly(String),
    Array(Box<Self>),
    Entry(Box<(Self, Self)>),
    Tuple(Vec<Self>),
}

/// The signature of a value; `None` if it cannot be determined, or the elements of an array differ.
pub(super) fn infer(node: &GvariantNode) -> Option<String> {
    pattern(node)?.signature()
}

fn pattern(node: &GvariantNode) -> Option<TypePattern> {
    Some(match &node.content {
        GvariantContent::Number(word) if is_fraction(word) => TypePattern::Fraction,
        GvariantContent::Number(_) => TypePattern::Whole,
        GvariantContent::Boolean(_) => TypePattern::Exactly("b".into()),
        GvariantContent::Text(_) => TypePattern::Text,
        GvariantContent::Bytes(_) => TypePattern::Exactly("ay".into()),
        GvariantContent::Array(items) => TypePattern::Array(Box::new(unify_all(items.iter())?)),
        GvariantContent::Dictionary(entries) => {
            let key = unify_all(entries.iter().map(|(key, _)| key))?;
            let value = unify_all(entries.iter().map(|(_, value)| value))?;
            TypePattern::Array(Box::new(TypePattern::Entry(Box::new((key, value)))))
        }
        GvariantContent::Entry(entry) => {
            TypePattern::Entry(Box::new((pattern(&entry.0)?, pattern(&entry.1)?)))
        }
        GvariantContent::Tuple(fields) => {
            TypePattern::Tuple(fields.iter().map(pattern).collect::<Option<_>>()?)
        }
        GvariantContent::Variant(_) => TypePattern::Exactly("v".into()),
        GvariantContent::Typed(types, _) => TypePattern::Exactly(types.to_string()),
    })
}

fn is_fraction(word: &str) -> bool {
    let hexadecimal = word.trim_start_matches(['-', '+']).starts_with("0x");
    !hexadecimal && word.contains(['.', 'e', 'E', 'n'])
}

/// The types that all these values can have.
fn unify_all<'n>(mut nodes: impl Iterator<Item = &'n GvariantNode>) -> Option<TypePattern> {
    nodes.try_fold(TypePattern::Any, |all, node| all.unify(pattern(node)?))
}

impl TypePattern {
    /// The types in both sets; `None` if there are none.
    fn unify(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Any, one) | (one, Self::Any) => one,
            (Self::Whole, Self::Fraction) | (Self::Fraction, Self::Whole) => Self::Fraction,
            (Self::Array(one), Self::Array(other)) => Self::Array(Box::new(one.unify(*other)?)),
            (Self::Entry(one), Self::Entry(other)) => {
                Self::Entry(Box::new((one.0.unify(other.0)?, one.1.unify(other.1)?)))
            }
            (Self::Tuple(one), Self::Tuple(other)) if one.len() == other.len() => {
                let both = one.into_iter().zip(other).map(|(one, other)| one.unify(other));
                Self::Tuple(both.collect::<Option<_>>()?)
            }
            (Self::Exactly(types), other) | (other, Self::Exactly(types)) => {
                other.accepts(&types).then_some(Self::Exactly(types))?
            }
            (one, other) => (one == other).then_some(one)?,
        })
    }

    /// True if the set contains this type.
    fn accepts(&self, types: &str) -> bool {
        let Some(kind) = Signature::new(types).ok().and_then(Signature::single) else {
            // A dictionary entry is not a complete signature.
            return self.accepts_entry(types);
        };
        match (self, kind) {
            (Self::Any, _) => true,
            (Self::Whole, kind) => is_number(kind),
            (Self::Fraction, kind) => kind == Type::Double,
            (Self::Text, kind) => {
                matches!(kind, Type::String | Type::ObjectPath | Type::Signature)
            }
            (Self::Exactly(own), _) => own == types,
            (Self::Array(item), Type::Array(element)) => item.accepts(element.as_str()),
            (Self::Tuple(fields), Type::Struct(inside)) => {
                fields.len() == inside.types().count()
                    && fields
                        .iter()
                        .zip(inside.types())
                        .all(|(field, kind)| field.accepts(&kind.to_string()))
            }
            _ => false,
        }
    }

    fn accepts_entry(&self, types: &str) -> bool {
        let inside = types.strip_prefix('{').and_then(|types| types.strip_suffix('}'));
        let inside = inside.and_then(|types| Signature::new(types).ok());
        match (self, inside) {
            (Self::Any, _) => true,
            (Self::Entry(entry), Some(inside)) => {
                let mut kinds = inside.types().map(|kind| kind.to_string());
                let mut fits = |part: &Self| kinds.next().is_some_and(|kind| part.accepts(&kind));
                fits(&entry.0) && fits(&entry.1)
            }
            _ => false,
        }
    }

    /// The default type of the set, as a signature.
    fn signature(&self) -> Option<String> {
        Some(match self {
            Self::Any => return None,
            Self::Whole => "i".into(),
            Self::Fraction => "d".into(),
            Self::Text => "s".into(),
            Self::Exactly(types) => types.clone(),
            Self::Array(item) => format!("a{}", item.signature()?),
            Self::Entry(entry) => format!("{{{}{}}}", entry.0.signature()?, entry.1.signature()?),
            Self::Tuple(fields) => {
                let fields: Option<String> = fields.iter().map(Self::signature).collect();
                format!("({})", fields?)
            }
        })
    }
}

const fn is_number(kind: Type<'_>) -> bool {
    matches!(
        kind,
        Type::Byte
            | Type::Int16
            | Type::Uint16
            | Type::Int32
            | Type::Uint32
            | Type::Int64
            | Type::Uint64
            | Type::UnixFd
            | Type::Double
    )
}
