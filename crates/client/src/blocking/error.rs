//! Errors of calls and signals.

use wire::body::ReadError;

use crate::core::{Ended, NoReply, RemoteError, SendError, remote_text};
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
    #[error("{}", remote_text(.name, .message))]
    Remote {
        /// The name of the error, such as `org.freedesktop.DBus.Error.UnknownMethod`.
        name: String,
        /// The text for people; empty if the reply has none.
        message: String,
    },
    /// No reply arrived before the deadline.
    #[error("{}", NoReply::TimedOut)]
    TimedOut,
    /// The connection ended before the call was sent, or before the reply arrived.
    #[error(transparent)]
    Disconnected(Ended),
    /// The results have other types than the caller expects.
    #[error(transparent)]
    Read(#[from] ReadError),
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

impl From<SendError> for CallError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Disconnected(ended) => Self::Disconnected(ended),
            other => Self::Send(other),
        }
    }
}

impl From<RemoteError> for CallError {
    fn from(error: RemoteError) -> Self {
        Self::Remote { name: error.name, message: error.message }
    }
}

impl From<NoReply> for CallError {
    fn from(reason: NoReply) -> Self {
        match reason {
            NoReply::TimedOut => Self::TimedOut,
            NoReply::Disconnected(ended) => Self::Disconnected(ended),
        }
    }
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
