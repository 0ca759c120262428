//! Calls by others.

use std::os::fd::OwnedFd;

use wire::body::{DecodeArgs, ReadError};
use wire::names::ErrorName;

use super::connection::Connection;
use super::link::ReceivedMessage;
use crate::core::{MessageBody, SendError};

/// A call by somebody, to be answered once.
///
/// An answer to a caller that wants none is not sent. A call that is never answered leaves its
/// caller waiting until its patience ends.
#[derive(Debug)]
pub struct IncomingCall {
    connection: Connection,
    message: ReceivedMessage,
}

impl IncomingCall {
    pub(super) const fn new(connection: Connection, message: ReceivedMessage) -> Self {
        Self { connection, message }
    }

    /// The connection that it came over.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The message.
    pub const fn message(&self) -> &ReceivedMessage {
        &self.message
    }

    /// Reads the arguments as the types of `T`, a tuple.
    pub fn read<'a, T: DecodeArgs<'a>>(&'a self) -> Result<T, ReadError> {
        self.message.read()
    }

    /// Answers with results.
    pub fn reply(&self, results: &impl MessageBody) -> Result<(), SendError> {
        self.reply_with_descriptors(results, Vec::new())
    }

    /// Answers with results and the descriptors to which they point: the first
    /// [`UnixFd`](wire::body::UnixFd) of the results is `UnixFd(0)`.
    ///
    /// # Errors
    ///
    /// [`SendError::DescriptorsRefused`] if the bus did not agree to pass descriptors;
    /// [`SendError::Disconnected`] if the connection ended.
    pub fn reply_with_descriptors(
        &self,
        results: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), SendError> {
        if !self.message.expects_reply() {
            return Ok(());
        }
        self.connection.send(&self.message.reply(), results, descriptors).map(|_| ())
    }

    /// Answers with an error: its name, and a text for people.
    pub fn reply_error(&self, name: ErrorName<'_>, text: &str) -> Result<(), SendError> {
        if !self.message.expects_reply() {
            return Ok(());
        }
        self.connection.send(&self.message.error_reply(name), &(text,), Vec::new()).map(|_| ())
    }
}
