//! Why there is no answer.

use std::fmt;
use std::time::Duration;

use capture::introspection::InvalidDocument;
use client::{CallError, Ended, InvalidName, SendError, SubscribeError};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use wire::body::ReadError;

use crate::ArgumentError;
use crate::asking::MESSAGE_MAX;

/// Why something was not learnt or not done. Its text is a sentence for people.
///
/// As JSON it has a `kind`, the `sentence`, and where there is one the `name` and `message` of an
/// error that came as the answer, or the number of the `argument` that is wrong, counted from 1.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A text is not the name that it should be.
    Name(InvalidName),
    /// Arguments do not fit.
    Arguments(ArgumentError),
    /// The types of what is to be called are not known: the object does not tell of it.
    Undescribed {
        /// Whether it is a method or a property.
        what: &'static str,
        /// Its name.
        member: String,
        /// The interface that it should be of, if one was given.
        interface: Option<String>,
    },
    /// The answer was an error.
    Refused {
        /// Which one.
        name: String,
        /// The text for people; empty if there is none.
        message: String,
    },
    /// No answer came in time.
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
    /// The bus did not take it in time; it may still.
    Untaken {
        /// How long it was waited for.
        after: Duration,
    },
    /// It was not asked for, or not taken, since there is a limit.
    LeftOut(Bound),
    /// What is sent cannot be sent.
    Unsendable(SendError),
    /// The answer has not the types that it must have, or breaks the rules of the specification.
    Unreadable(ReadError),
    /// The answer, or a signal, is longer than [`MESSAGE_MAX`].
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// What the object says it has is no such document.
    Document(InvalidDocument),
    /// The bus does not take the match rule.
    Unwatchable(SubscribeError),
    /// The connection to the bus ended.
    Disconnected(Ended),
}

/// A limit on what is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// On time.
    Time,
    /// On how deep objects are below each other.
    Depth,
    /// On how much is remembered.
    Size,
}

impl Failure {
    /// The word for the kind of failure in JSON.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::Arguments(_) => "arguments",
            Self::Undescribed { .. } => "undescribed",
            Self::Refused { .. } => "refused",
            Self::Silent { .. } => "silent",
            Self::Untaken { .. } => "untaken",
            Self::LeftOut(_) => "left-out",
            Self::Unsendable(_) => "unsendable",
            Self::Unreadable(_) => "unreadable",
            Self::TooLong { .. } => "too-long",
            Self::Document(_) => "document",
            Self::Unwatchable(_) => "unwatchable",
            Self::Disconnected(_) => "disconnected",
        }
    }

    /// What became of a call that was waited for so long.
    pub(crate) fn of_call(error: CallError, waited: Duration) -> Self {
        match error {
            CallError::TimedOut => Self::Silent { after: waited },
            CallError::Name(error) => Self::Name(error),
            CallError::Send(error) => Self::Unsendable(error),
            CallError::Remote { name, message } => Self::Refused { name, message },
            CallError::Disconnected(ended) => Self::Disconnected(ended),
            CallError::Read(error) => Self::Unreadable(error),
            // Whatever else there may be one day has a text.
            other => Self::Refused { name: String::new(), message: other.to_string() },
        }
    }

    /// The name of the error that came as the answer.
    pub fn error_name(&self) -> Option<&str> {
        match self {
            Self::Refused { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Arguments(error) => error.fmt(f),
            Self::Undescribed { what, member, interface } => {
                write!(f, "the object does not tell of a {what} {member}")?;
                if let Some(interface) = interface {
                    write!(f, " of {interface}")?;
                }
                f.write_str(", so its types must be given")
            }
            Self::Refused { name, message } if message.is_empty() => f.write_str(name),
            Self::Refused { name, message } => write!(f, "{name}: {message}"),
            Self::Silent { after } => {
                write!(f, "no answer came within {:?}", to_milliseconds(*after))
            }
            Self::Untaken { after } => {
                write!(f, "the bus did not take it within {:?}", to_milliseconds(*after))
            }
            Self::LeftOut(bound) => bound.fmt(f),
            Self::Unsendable(error) => error.fmt(f),
            Self::Unreadable(error) => write!(f, "the answer cannot be read: {error}"),
            Self::TooLong { len } => {
                write!(f, "it has {len} bytes, and at most {MESSAGE_MAX} are read")
            }
            Self::Document(error) => {
                write!(f, "what the object says it has cannot be read: {error}")
            }
            Self::Unwatchable(error) => error.fmt(f),
            Self::Disconnected(ended) => ended.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

/// As people say it: what other questions have used up of it is no matter.
fn to_milliseconds(span: Duration) -> Duration {
    let milliseconds = span.as_micros().div_ceil(1000);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "left out: the time for all questions was used up",
            Self::Depth => "left out: it is too deep below the others",
            Self::Size => "left out: there is too much to remember",
        })
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Failure", 3)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("sentence", &self.to_string())?;
        match self {
            Self::Refused { name, message } => {
                fields.serialize_field("name", name)?;
                fields.serialize_field("message", message)?;
            }
            Self::Arguments(error) => {
                if let Some(number) = error.argument() {
                    fields.serialize_field("argument", &number)?;
                }
            }
            _ => {}
        }
        fields.end()
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        Self::Name(error)
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self::Arguments(error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<InvalidDocument> for Failure {
    fn from(error: InvalidDocument) -> Self {
        Self::Document(error)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        Self::Disconnected(ended)
    }
}
