//! Reasons for the end of a connection, and errors of sending a message.

use std::fmt;
use std::io;

use wire::message::{InvalidMessage, WriteError};

/// The reason why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// The other side closed the connection.
    #[error("the other end closed the connection")]
    Closed,
    /// Reading from or writing to the socket failed.
    #[error("the connection failed: {0}")]
    System(SystemError),
    /// The other side sent bytes that are not a valid message.
    #[error("the other end sent an invalid message: {0}")]
    Invalid(InvalidMessage),
    /// The kernel dropped descriptors in transit, so the message that they belong to is incomplete.
    #[error(
        "descriptors of a message were lost in transit; \
         this process may have reached its limit of open files"
    )]
    DescriptorsLost,
}

/// An error of the operating system that can be compared and copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub struct SystemError {
    /// The category of the error.
    pub kind: io::ErrorKind,
    /// The `errno` value, if the error has one.
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

/// The reason why a message was not queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message cannot be encoded.
    #[error("the message cannot be written: {0}")]
    Write(WriteError),
    /// The message has descriptors, and the two sides did not negotiate descriptor passing.
    #[error("the other end did not agree to pass file descriptors")]
    DescriptorsRefused,
    /// The message has more descriptors than one message can carry.
    #[error("the message has {count} descriptors, but at most {limit} are allowed")]
    DescriptorsTooMany {
        /// Number of descriptors in the message.
        count: usize,
        /// Maximum number of descriptors in one message.
        limit: u32,
    },
    /// The connection is to a peer without a bus, and only a bus knows the names of connections.
    #[error("the connection is to a peer without a bus, and such a peer has no name")]
    NoBus,
    /// The connection had already ended.
    #[error(transparent)]
    Disconnected(Ended),
}

impl From<WriteError> for SendError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
