//! Errors of requests to a bus or a peer.

use std::fmt;
use std::time::Duration;

use capture::introspection::InvalidDocument;
use client::{CallError, Ended, InvalidName, SendError, SubscribeError};
use serde::{Serialize, Serializer};
use wire::body::ReadError;

use crate::ArgumentError;
use crate::requests::MESSAGE_MAX;

/// Why a request to the bus or a peer failed. The text is a sentence.
///
/// As JSON it is a [`FailureRecord`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectorFailure {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// An argument does not match its signature.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// The types of a member are unknown, because the introspection data of the object lacks it.
    #[error(
        "the introspection data of the object has no {member_kind} {member}{}; specify the signature",
        interface.as_ref().map(|interface| format!(" of {interface}")).unwrap_or_default()
    )]
    Undescribed {
        /// The kind of the member: `method` or `property`.
        member_kind: &'static str,
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
    #[error("no reply within {:?}", to_milliseconds(*after))]
    Silent {
        /// The time that passed.
        after: Duration,
    },
    /// The bus did not read the message in time; it may still read it later.
    #[error("the bus did not accept the message within {:?}", to_milliseconds(*after))]
    Untaken {
        /// The time that passed.
        after: Duration,
    },
    /// A limit prevented the request, or the use of its reply.
    #[error("{0}")]
    LeftOut(InspectionBound),
    /// The message could not be sent.
    #[error(transparent)]
    Unsendable(SendError),
    /// The reply does not have the expected types, or violates the D-Bus specification.
    #[error("cannot decode the reply: {0}")]
    Unreadable(#[from] ReadError),
    /// The reply, or a signal, is longer than [`MESSAGE_MAX`].
    #[error("the message has {len} bytes; the limit is {MESSAGE_MAX}")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The introspection data of an object could not be parsed.
    #[error("invalid introspection data: {0}")]
    Document(#[from] InvalidDocument),
    /// The bus rejected the match rule.
    #[error(transparent)]
    Unwatchable(SubscribeError),
    /// The connection to the bus ended.
    #[error(transparent)]
    Disconnected(#[from] Ended),
}

/// A limit of an inspection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InspectionBound {
    /// The time limit for all requests.
    Time,
    /// The maximum depth of nested objects.
    Depth,
    /// The maximum size of the results.
    Size,
}

impl InspectorFailure {
    /// Returns the value of `kind` in JSON.
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

    /// Converts the error of a call.
    pub(crate) fn of_call(error: CallError) -> Self {
        match error {
            CallError::TimedOut { limit, .. } => Self::Silent { after: limit },
            CallError::Name(error) => Self::Name(error),
            CallError::Send(error) => Self::Unsendable(error),
            CallError::Remote { name, message, .. } => Self::Refused { name, message },
            CallError::Disconnected(ended) => Self::Disconnected(ended),
            CallError::Read { error, .. } => Self::Unreadable(error),
            // `CallError` is non-exhaustive.
            other => Self::Refused { name: String::new(), message: other.to_string() },
        }
    }

    /// Returns the D-Bus name of the error reply, if there was one.
    pub fn error_name(&self) -> Option<&str> {
        match self {
            Self::Refused { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Rounds up to whole milliseconds: requests that share a time limit have uneven timeouts.
fn to_milliseconds(span: Duration) -> Duration {
    let milliseconds = span.as_micros().div_ceil(1000);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

impl fmt::Display for InspectionBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "skipped: the time limit for all requests was reached",
            Self::Depth => "skipped: the object is nested too deeply",
            Self::Size => "skipped: the limit on the size of the results was reached",
        })
    }
}

/// The JSON form of an [`InspectorFailure`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Failure"))]
pub struct FailureRecord {
    /// The kind of failure; see [`InspectorFailure::kind`].
    pub kind: &'static str,
    /// The failure as a sentence for people.
    pub sentence: String,
    /// The name of an error reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text of an error reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The number of the argument that is wrong, starting at 1.
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
