//! Why there is no answer.

use std::fmt;
use std::time::Duration;

use capture::introspection::InvalidDocument;
use client::{CallError, Ended, InvalidName, SendError, SubscribeError};
use serde::{Serialize, Serializer};
use wire::body::ReadError;

use crate::ArgumentError;
use crate::asking::MESSAGE_MAX;

/// Why a request to the bus or a peer failed. The text is a sentence.
///
/// As JSON it is a [`FailureRecord`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectorFailure {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Arguments do not fit.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// The types of a member are unknown, because the introspection data of the object lacks it.
    #[error(
        "the object does not tell of a {what} {member}{}, so its types must be given",
        interface.as_ref().map(|interface| format!(" of {interface}")).unwrap_or_default()
    )]
    Undescribed {
        /// `method` or `property`.
        what: &'static str,
        /// The name of the member.
        member: String,
        /// The interface, if one was given.
        interface: Option<String>,
    },
    /// The reply was an error.
    #[error("{name}{}{message}", if message.is_empty() { "" } else { ": " })]
    Refused {
        /// The name of the error.
        name: String,
        /// The text of the error; empty if it has none.
        message: String,
    },
    /// No reply came in time.
    #[error("no answer came within {:?}", to_milliseconds(*after))]
    Silent {
        /// The time that passed.
        after: Duration,
    },
    /// The bus did not read the message in time; it may still do so.
    #[error("the bus did not take it within {:?}", to_milliseconds(*after))]
    Untaken {
        /// The time that passed.
        after: Duration,
    },
    /// A limit prevented the request, or the use of its reply.
    #[error("{0}")]
    LeftOut(InspectionBound),
    /// The message cannot be sent.
    #[error(transparent)]
    Unsendable(SendError),
    /// The reply has the wrong types or breaks the rules of the specification.
    #[error("the answer cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The reply, or a signal, is longer than [`MESSAGE_MAX`].
    #[error("it has {len} bytes, and at most {MESSAGE_MAX} are read")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The introspection data of the object is invalid.
    #[error("what the object says it has cannot be read: {0}")]
    Document(#[from] InvalidDocument),
    /// The bus rejected the match rule.
    #[error(transparent)]
    Unwatchable(SubscribeError),
    /// The connection to the bus ended.
    #[error(transparent)]
    Disconnected(#[from] Ended),
}

/// A limit on what is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InspectionBound {
    /// On time.
    Time,
    /// On how deep objects are below each other.
    Depth,
    /// On how much is remembered.
    Size,
}

impl InspectorFailure {
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

/// As people say it: what other questions have used up of it is no matter.
fn to_milliseconds(span: Duration) -> Duration {
    let milliseconds = span.as_micros().div_ceil(1000);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

impl fmt::Display for InspectionBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "left out: the time for all questions was used up",
            Self::Depth => "left out: it is too deep below the others",
            Self::Size => "left out: there is too much to remember",
        })
    }
}

/// A failure as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Failure"))]
pub struct FailureRecord {
    /// The kind of failure, in a word.
    pub kind: &'static str,
    /// The failure as a sentence for people.
    pub sentence: String,
    /// The name of an error reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text of an error reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The argument that is wrong, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<usize>,
}

impl From<&InspectorFailure> for FailureRecord {
    fn from(failure: &InspectorFailure) -> Self {
        let (name, message) = match failure {
            InspectorFailure::Refused { name, message } => {
                (Some(name.clone()), Some(message.clone()))
            }
            _ => (None, None),
        };
        let argument = match failure {
            InspectorFailure::Arguments(error) => error.argument(),
            _ => None,
        };
        Self { kind: failure.kind(), sentence: failure.to_string(), name, message, argument }
    }
}

impl Serialize for InspectorFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FailureRecord::from(self).serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for InspectorFailure {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        FailureRecord::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        FailureRecord::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        FailureRecord::json_schema(generator)
    }
}
