//! Errors of calls and signals.

use std::time::Duration;

use wire::body::ReadError;

use crate::core::{
    CalledMethod, Ended, FailureCause, NoReply, RemoteError, SendError, remote_text,
};
use crate::explanation::ReadableTime;
use crate::name::InvalidName;

/// The reason why a call returned no results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A text is not a valid name of its kind.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The call was not sent.
    #[error(transparent)]
    Send(SendError),
    /// The reply is an error.
    #[error("{}{} failed: {}", .method.member(), peer("of", .method), remote_text(.name, .message))]
    Remote {
        /// The name of the error, such as `org.freedesktop.DBus.Error.UnknownMethod`.
        name: String,
        /// The text for people; empty if the reply has none.
        message: String,
        /// The method that was called, or the property that was read or written.
        method: Box<CalledMethod>,
    },
    /// No reply arrived before the deadline.
    #[error("no reply{} to {} after {}", peer("from", .method), .method.member(), ReadableTime(*.limit))]
    TimedOut {
        /// The method that was called, or the property that was read or written.
        method: Box<CalledMethod>,
        /// The time limit of the call, which has passed.
        limit: Duration,
    },
    /// The connection ended before the call was sent, or before the reply arrived.
    #[error(transparent)]
    Disconnected(Ended),
    /// The results, or the value of a property, have other types than the caller expects.
    #[error("{}{error}", unreadable(.member.as_deref()))]
    Read {
        /// The difference to the expected types.
        error: ReadError,
        /// The method that was called, or the property that was read; `None` if the program has
        /// read the reply itself.
        member: Option<Box<CalledMethod>>,
    },
}

impl CallError {
    /// The name of the error in the reply, if the reply is an error.
    pub fn remote_name(&self) -> Option<&str> {
        match self {
            Self::Remote { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl From<ReadError> for CallError {
    fn from(error: ReadError) -> Self {
        Self::Read { error, member: None }
    }
}

impl From<SendError> for CallError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Disconnected(ended) => Self::Disconnected(ended),
            other => Self::Send(other),
        }
    }
}

impl CallError {
    /// The error of a call of a method that failed for this reason.
    pub(crate) fn failed(reason: FailureCause, method: CalledMethod) -> Self {
        match reason {
            FailureCause::ErrorReply(RemoteError { name, message }) => {
                Self::Remote { name, message, method: method.into() }
            }
            FailureCause::NoReply(NoReply::TimedOut { limit }) => {
                Self::TimedOut { method: method.into(), limit }
            }
            FailureCause::NoReply(NoReply::Disconnected(ended)) => Self::Disconnected(ended),
        }
    }
}

/// The called name behind a preposition; empty on a connection to a peer without a bus.
fn peer(preposition: &str, method: &CalledMethod) -> String {
    method.destination().map_or_else(String::new, |name| format!(" {preposition} {name}"))
}

fn unreadable(member: Option<&CalledMethod>) -> String {
    let Some(member) = member else { return String::new() };
    format!("{}{} cannot be read: ", member.member(), peer("of", member))
}

/// The reason why a signal was not queued.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EmitError {
    /// A text is not a valid name of its kind.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The signal was not queued.
    #[error(transparent)]
    Send(#[from] SendError),
}
