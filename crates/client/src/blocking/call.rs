//! Calls: what they need, and what becomes of them.

use std::fmt;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::time::Duration;

use wire::body::ReadError;

use super::{Connection, Received};
use crate::core::{CallId, Ended, NoReply, Outcome, RemoteError, SendError};
use crate::name::InvalidName;

/// What a call may have besides its message.
#[derive(Debug, Default)]
pub struct CallOptions {
    /// How long to wait for the reply.
    pub timeout: Timeout,
    /// The descriptors that go along. The body has their places, as
    /// [`UnixFd`](wire::body::UnixFd), counted from 0.
    pub descriptors: Vec<OwnedFd>,
}

/// How long to wait for a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timeout {
    /// As long as the connection is [set to](Connection::set_call_timeout).
    #[default]
    OfConnection,
    /// So long.
    After(Duration),
    /// Until there is one.
    Never,
}

/// A call whose reply is still to come. Dropped, it is given up, and the reply will be ignored.
#[derive(Debug)]
#[must_use = "a call that is dropped is given up"]
pub struct PendingCall {
    connection: Connection,
    id: CallId,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    /// The outcome was taken.
    Over,
}

impl PendingCall {
    pub(super) const fn new(connection: Connection, id: CallId) -> Self {
        Self { connection, id, state: State::Waiting }
    }

    /// The serial of the call, by which a record of the traffic names it.
    pub fn serial(&self) -> NonZeroU32 {
        self.id.serial()
    }

    /// Waits for the reply.
    ///
    /// # Errors
    ///
    /// As for [`Connection::call`].
    ///
    /// # Panics
    ///
    /// When [`poll`](Self::poll) has taken the outcome.
    pub fn wait(mut self) -> Result<Received, CallError> {
        let found = self.connection.wait_for_reply(self.id);
        self.state = State::Over;
        outcome(found)
    }

    /// The outcome, if it is there already; the socket is not looked at. This is for programs that
    /// wait in [`process`](Connection::process) or in a loop of their own.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn poll(&mut self) -> Option<Result<Received, CallError>> {
        let found = self.connection.core(|core| core.poll_reply(self.id))?;
        self.state = State::Over;
        Some(outcome(found))
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if self.state == State::Waiting {
            self.connection.core(|core| core.forget(self.id));
        }
    }
}

/// Why a call has no results.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// A text is not the name that it should be.
    Name(InvalidName),
    /// The call was not sent.
    Send(SendError),
    /// The other side answered with an error.
    Remote {
        /// Which error: `org.freedesktop.DBus.Error.UnknownMethod`.
        name: String,
        /// The text for people; empty if there is none.
        message: String,
    },
    /// No reply came in time.
    TimedOut,
    /// The connection ended before the reply came, or before the call was sent.
    Disconnected(Ended),
    /// The results have not the types that were asked for.
    Read(ReadError),
}

impl CallError {
    /// The name of the error that the other side answered with.
    pub fn remote_name(&self) -> Option<&str> {
        match self {
            Self::Remote { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl From<InvalidName> for CallError {
    fn from(error: InvalidName) -> Self {
        Self::Name(error)
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

impl From<ReadError> for CallError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
            Self::Remote { name, message } if message.is_empty() => f.write_str(name),
            Self::Remote { name, message } => write!(f, "{name}: {message}"),
            Self::TimedOut => NoReply::TimedOut.fmt(f),
            Self::Disconnected(ended) => ended.fmt(f),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

/// An error that came as a reply is an error here too.
pub(super) fn outcome(outcome: Outcome<OwnedFd>) -> Result<Received, CallError> {
    let reply = outcome?;
    match reply.remote_error() {
        None => Ok(reply),
        Some(error) => Err(error.into()),
    }
}
