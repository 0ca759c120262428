//! Why what was written is not the values that it should be.

use std::fmt;

use wire::names::NameError;
use wire::signature::{SignatureBuf, SignatureError, Type};

use crate::expected::expected;

/// Why arguments do not fit. The text says which argument is wrong, its type, its value, and has an
/// example.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgumentError {
    /// The text for the types is not a signature.
    #[error("{text:?} is not a valid signature: {error}")]
    Signature {
        /// The text.
        text: Box<str>,
        /// The rule that it breaks.
        error: SignatureError,
    },
    /// The number of arguments differs from the number of types.
    #[error(
        "too {} arguments for signature \"{signature}\": expected {expected}, got {given}",
        if given < expected { "few" } else { "many" }
    )]
    Count {
        /// The types.
        signature: SignatureBuf,
        /// The number of types.
        expected: usize,
        /// The number of arguments.
        given: usize,
    },
    /// The first word is read as a signature, and the words behind it are not its arguments.
    #[error("{error}; if {word:?} is an argument, write it in quotes: '\"{word}\"'")]
    AsSignature {
        /// The first word.
        word: Box<str>,
        /// What is wrong with it or with the other words.
        error: Box<Self>,
    },
    /// There are words behind the last argument.
    #[error("too many arguments for signature \"{signature}\": unexpected {given:?}")]
    Words {
        /// The types.
        signature: SignatureBuf,
        /// The first superfluous word.
        given: String,
    },
    /// An argument is not of its type.
    #[error("argument {number}{misfit}")]
    Misfit {
        /// The number of the argument, from 1.
        number: usize,
        /// The part that does not fit.
        misfit: Box<Misfit>,
    },
}

impl ArgumentError {
    /// At which character of the arguments that one text is the wrong one is, from 1; `None` if that is not known.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Misfit { misfit, .. } => misfit.column,
            Self::AsSignature { error, .. } => error.column(),
            Self::Signature { .. } | Self::Count { .. } | Self::Words { .. } => None,
        }
    }

    /// Which argument is wrong, counted from 1; `None` if it is not one alone.
    pub fn argument(&self) -> Option<usize> {
        match self {
            Self::Misfit { number, .. } => Some(*number),
            Self::AsSignature { error, .. } => error.argument(),
            Self::Signature { .. } | Self::Count { .. } | Self::Words { .. } => None,
        }
    }
}

/// A value, or a part of one, that is not of its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// The way to the part, from the outside.
    pub steps: Vec<MisfitStep>,
    /// The type.
    pub types: String,
    /// What it asks for, in words.
    pub expected: &'static str,
    /// What was given, cut if it is long.
    pub given: String,
    /// At which character of what was given the part begins that does not fit, from 1; `None` if the form has
    /// no places.
    pub column: Option<usize>,
    /// What would do.
    pub example: String,
    /// What is wrong with it.
    pub reason: MisfitReason,
}

/// A step into a container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MisfitStep {
    /// To an element of an array, counted from 1.
    Element(usize),
    /// To a field of a struct, or to the key (1) or value (2) of a pair.
    Field(usize),
    /// To the key of a dictionary.
    Key,
    /// To the value that a dictionary has for a key.
    ValueOf(Box<str>),
    /// Into a variant.
    Variant,
}

/// What is wrong with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MisfitReason {
    /// It is something else.
    Kind,
    /// There is none.
    Missing,
    /// It is a number that the type cannot hold.
    Range,
    /// It has a 0 byte, which no text of D-Bus has.
    Nul,
    /// It is no object path.
    Path(NameError),
    /// It is no signature.
    Signature(SignatureError),
    /// The type of a variant is not one type.
    VariantNotSingle,
    /// It has not as many fields as the type.
    Fields {
        /// How many the type has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// Descriptors cannot be written so.
    Descriptor,
    /// What should be a descriptor cannot be opened.
    Unopened(Box<str>),
    /// It says that it is of another type.
    Typed(Box<str>),
    /// It breaks the rules of the form.
    Syntax {
        /// At which character, from 1.
        column: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Nothing says of what type it is.
    Untyped,
    /// It does not say how many elements there are.
    Count,
    /// More containers are inside each other than a message may have.
    TooDeep,
}

impl Misfit {
    /// `given` is not a value of this type, for which `example` is one.
    pub(crate) fn new(
        kind: Type<'_>,
        given: String,
        example: String,
        reason: MisfitReason,
    ) -> Box<Self> {
        Box::new(Self {
            steps: Vec::new(),
            types: kind.to_string(),
            expected: expected(kind),
            given: shortened(given),
            column: None,
            example,
            reason,
        })
    }

    /// The same, with the place of the part.
    pub(crate) fn at(mut self: Box<Self>, column: usize) -> Box<Self> {
        self.column = Some(column);
        self
    }

    /// The same, seen from one container further out.
    pub(crate) fn inside(mut self: Box<Self>, step: MisfitStep) -> Box<Self> {
        self.steps.insert(0, step);
        self
    }
}

/// Cut where people stop reading.
fn shortened(mut text: String) -> String {
    if text.len() > GIVEN_MAX {
        let end = (0..=GIVEN_MAX).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| write!(f, ", {step}"))?;
        write!(f, " must be {} ({}), and is {}", self.expected, self.types, self.given)?;
        match &self.reason {
            MisfitReason::Kind | MisfitReason::Missing | MisfitReason::Range => {}
            MisfitReason::Nul => f.write_str(", which has a 0 byte")?,
            MisfitReason::Path(error) => write!(f, ": {error}")?,
            MisfitReason::Signature(error) => write!(f, ": {error}")?,
            MisfitReason::Unopened(why) => write!(f, ": {why}")?,
            MisfitReason::Typed(types) => write!(f, ", which is of type {types}")?,
            MisfitReason::Syntax { column, expected } => {
                write!(f, ": {expected} should stand at character {column}")?;
            }
            MisfitReason::Count => f.write_str(", which is not their number")?,
            MisfitReason::Untyped => f.write_str(", of which nothing says the type")?,
            MisfitReason::VariantNotSingle => f.write_str(": a variant has one type")?,
            MisfitReason::Fields { expected, given } => {
                write!(f, ": {given} instead of {expected}")?
            }
            MisfitReason::Descriptor => return f.write_str("; descriptors cannot be written so"),
            MisfitReason::TooDeep => return f.write_str("; more than 64 containers are nested"),
        }
        write!(f, "; an example is {}", self.example)
    }
}

impl fmt::Display for MisfitStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(number) => write!(f, "element {number}"),
            Self::Field(number) => write!(f, "field {number}"),
            Self::Key => f.write_str("a key"),
            Self::ValueOf(key) => write!(f, "the value of {key:?}"),
            Self::Variant => f.write_str("inside"),
        }
    }
}

/// Bytes of what was given that are shown.
const GIVEN_MAX: usize = 60;
