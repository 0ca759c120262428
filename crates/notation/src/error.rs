//! Errors of reading arguments.

use std::fmt;

use wire::names::NameError;
use wire::signature::{SignatureBuf, SignatureError, Type};

use crate::expected::expected;

/// The reason why arguments do not match their types. The text states the wrong argument, its type,
/// its value, and an example.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgumentError {
    /// The text for the types is not a signature.
    #[error("{text:?} is not a valid signature: {error}")]
    Signature {
        /// The text that is not a signature.
        text: Box<str>,
        /// The rule that it violates.
        error: SignatureError,
    },
    /// The number of arguments differs from the number of types.
    #[error(
        "too {} arguments for signature \"{signature}\": expected {expected}, got {given}",
        if given < expected { "few" } else { "many" }
    )]
    Count {
        /// The signature of the expected arguments.
        signature: SignatureBuf,
        /// The number of types.
        expected: usize,
        /// The number of arguments.
        given: usize,
    },
    /// The first word was read as a signature, and the words after it do not match it.
    #[error("{error}; if {word:?} is an argument, write it in quotes: '\"{word}\"'")]
    AsSignature {
        /// The first word, which was read as a signature.
        word: Box<str>,
        /// The error in the signature or in the other words.
        error: Box<Self>,
    },
    /// There are words after the last argument.
    #[error("too many arguments for signature \"{signature}\": unexpected {given:?}")]
    Words {
        /// The signature of the expected arguments.
        signature: SignatureBuf,
        /// The first superfluous word.
        given: String,
    },
    /// An argument is not of its type.
    #[error("argument {number}{mismatch}")]
    Mismatch {
        /// The number of the argument, from 1.
        number: usize,
        /// The part that does not fit.
        mismatch: Box<TypeMismatch>,
    },
}

impl ArgumentError {
    /// The position of the wrong character, from 1, if the arguments are one text; `None` if it is
    /// unknown.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Mismatch { mismatch, .. } => mismatch.column,
            Self::AsSignature { error, .. } => error.column(),
            Self::Signature { .. } | Self::Count { .. } | Self::Words { .. } => None,
        }
    }

    /// The number of the wrong argument, from 1; `None` if the error is not about one argument.
    pub fn argument(&self) -> Option<usize> {
        match self {
            Self::Mismatch { number, .. } => Some(*number),
            Self::AsSignature { error, .. } => error.argument(),
            Self::Signature { .. } | Self::Count { .. } | Self::Words { .. } => None,
        }
    }
}

/// A value, or a part of one, that does not match its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeMismatch {
    /// The path from the argument to the part, outermost step first.
    pub steps: Vec<MismatchStep>,
    /// The expected type, as a signature.
    pub types: String,
    /// A description of the expected type.
    pub expected: &'static str,
    /// The given text, truncated if it is long.
    pub given: String,
    /// The position of the wrong part in the given text, in characters from 1; `None` if the form
    /// has no positions.
    pub column: Option<usize>,
    /// A valid value of the expected type.
    pub example: String,
    /// The reason for the mismatch.
    pub reason: MismatchReason,
}

/// A step into a container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MismatchStep {
    /// Into an element of an array, counted from 1.
    Element(usize),
    /// Into a field of a struct, or the key (1) or value (2) of a dict entry.
    Field(usize),
    /// Into the key of a dictionary entry.
    Key,
    /// Into the value for this key of a dictionary.
    ValueOf(Box<str>),
    /// Into the value of a variant.
    Variant,
}

/// The reason why a value does not match its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MismatchReason {
    /// The value is of another kind.
    Kind,
    /// The value is missing.
    Missing,
    /// The number is outside the range of the type.
    Range,
    /// The text contains a 0 byte, which D-Bus strings cannot contain.
    Nul,
    /// The text is not a valid object path.
    Path(NameError),
    /// The text is not a valid signature.
    Signature(SignatureError),
    /// The type of a variant is not exactly one type.
    VariantNotSingle,
    /// The number of items differs from the number of fields.
    Fields {
        /// Number of fields in the type.
        expected: usize,
        /// Number of given items.
        given: usize,
    },
    /// The form has no notation for file descriptors.
    Descriptor,
    /// The file descriptor cannot be opened; the reason.
    Unopened(Box<str>),
    /// The value is annotated with this other type.
    Typed(Box<str>),
    /// The text violates the grammar of the form.
    Syntax {
        /// Position of the wrong character, from 1.
        column: usize,
        /// The grammar element that is expected there.
        expected: &'static str,
    },
    /// The type of the value cannot be determined.
    Untyped,
    /// The word is not a number of elements.
    Count,
    /// The value has more nested containers than a message may have.
    TooDeep,
}

impl TypeMismatch {
    /// Creates the error that `given` is not a value of this type; `example` is one.
    pub(crate) fn new(
        kind: Type<'_>,
        given: String,
        example: String,
        reason: MismatchReason,
    ) -> Box<Self> {
        Box::new(Self {
            steps: Vec::new(),
            types: kind.to_string(),
            expected: expected(kind),
            given: truncated(given),
            column: None,
            example,
            reason,
        })
    }

    /// Sets the position of the part.
    pub(crate) fn at(mut self: Box<Self>, column: usize) -> Box<Self> {
        self.column = Some(column);
        self
    }

    /// Adds an outer step to the path.
    pub(crate) fn inside(mut self: Box<Self>, step: MismatchStep) -> Box<Self> {
        self.steps.insert(0, step);
        self
    }
}

/// Truncates a long text for display.
fn truncated(mut text: String) -> String {
    if text.len() > GIVEN_MAX {
        let end = (0..=GIVEN_MAX).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| write!(f, ", {step}"))?;
        write!(f, " must be {} ({}), but is {}", self.expected, self.types, self.given)?;
        match &self.reason {
            MismatchReason::Kind | MismatchReason::Missing | MismatchReason::Range => {}
            MismatchReason::Nul => f.write_str(", which contains a 0 byte")?,
            MismatchReason::Path(error) => write!(f, ": {error}")?,
            MismatchReason::Signature(error) => write!(f, ": {error}")?,
            MismatchReason::Unopened(why) => write!(f, ": {why}")?,
            MismatchReason::Typed(types) => write!(f, ", which is of type {types}")?,
            MismatchReason::Syntax { column, expected } => {
                write!(f, ": expected {expected} at character {column}")?;
            }
            MismatchReason::Count => f.write_str(", which is not the number of elements")?,
            MismatchReason::Untyped => f.write_str(", whose type is unknown")?,
            MismatchReason::VariantNotSingle => {
                f.write_str(": a variant must have exactly one type")?
            }
            MismatchReason::Fields { expected, given } => {
                write!(f, ": expected {expected} items, got {given}")?;
            }
            MismatchReason::Descriptor => {
                return f.write_str("; file descriptors cannot be given in this form");
            }
            MismatchReason::TooDeep => return f.write_str("; more than 64 containers are nested"),
        }
        write!(f, "; example: {}", self.example)
    }
}

impl fmt::Display for MismatchStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(number) => write!(f, "element {number}"),
            Self::Field(number) => write!(f, "field {number}"),
            Self::Key => f.write_str("a key"),
            Self::ValueOf(key) => write!(f, "the value of {key:?}"),
            Self::Variant => f.write_str("the variant's value"),
        }
    }
}

/// Maximum length of the displayed given text, in bytes.
const GIVEN_MAX: usize = 60;
