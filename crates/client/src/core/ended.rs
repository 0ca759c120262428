//! Why a connection is over, and why a message was not sent.

use std::fmt;
use std::io;

use wire::message::{InvalidMessage, WriteError};

/// Why a connection ended. It does not come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// The other side closed it.
    #[error("the bus closed the connection")]
    Closed,
    /// The system failed to move bytes.
    #[error("the connection failed: {0}")]
    System(SystemError),
    /// The other side sent what is no message.
    #[error("the bus sent an invalid message: {0}")]
    Invalid(InvalidMessage),
    /// The system lost descriptors on the way, so the message that they belong to is lost too.
    #[error(
        "the system lost descriptors that came with a message; \
         does this process have too many files open?"
    )]
    DescriptorsLost,
}

/// An error of the operating system, as a value that can be compared and copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub struct SystemError {
    /// What kind of error it is.
    pub kind: io::ErrorKind,
    /// Its number in the operating system, if it has one.
    pub code: Option<i32>,
}

impl From<io::Error> for SystemError {
    fn from(error: io::Error) -> Self {
        Self { kind: error.kind(), code: error.raw_os_error() }
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => io::Error::from_raw_os_error(code).fmt(f),
            None => self.kind.fmt(f),
        }
    }
}

/// Why a message was not queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It cannot be written.
    #[error("the message cannot be written: {0}")]
    Write(WriteError),
    /// It has descriptors, and the two sides did not agree to pass any.
    #[error("the bus did not agree to pass file descriptors")]
    DescriptorsRefused,
    /// It has more descriptors than one message can carry.
    #[error("the message has {count} descriptors, and {limit} are allowed")]
    DescriptorsTooMany {
        /// How many it has.
        count: usize,
        /// How many it could.
        limit: u32,
    },
    /// The connection ended before.
    #[error(transparent)]
    Disconnected(Ended),
}

impl From<WriteError> for SendError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
