//! Incoming calls and their replies.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use wire::body::{DecodeArgs, ReadError};
use wire::message::Builder;
use wire::names::ErrorName;

use super::connection::{Connection, Departure};
use super::object::error_name;
use crate::core::{MessageBody, SendError};
use crate::link::ReceivedMessage;

/// A call by a peer, to be answered once.
///
/// If the caller set `NO_REPLY_EXPECTED`, answers are not sent. If a call is never answered, its
/// caller waits until its own timeout. If the function that serves it panics, the caller gets the
/// error `org.freedesktop.DBus.Error.Failed`, and the panic goes on in the thread that serves.
#[derive(Debug)]
pub struct IncomingCall {
    connection: Connection,
    message: ReceivedMessage,
    is_answered: AtomicBool,
}

impl IncomingCall {
    pub(crate) fn new(connection: Connection, message: ReceivedMessage) -> Self {
        let is_answered = AtomicBool::new(!message.expects_reply());
        Self { connection, message, is_answered }
    }

    /// The connection that received the call.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The message of the call.
    pub const fn message(&self) -> &ReceivedMessage {
        &self.message
    }

    /// Decodes the arguments as a tuple `T`.
    ///
    /// # Errors
    ///
    /// If the signature of the call differs from the types in `T`, or a value is invalid.
    pub fn read<'a, T: DecodeArgs<'a>>(&'a self) -> Result<T, ReadError> {
        self.message.read()
    }

    /// Replies with results.
    ///
    /// # Errors
    ///
    /// If the results cannot be encoded, or the connection ended.
    pub fn reply(&self, results: &impl MessageBody) -> Result<(), SendError> {
        self.reply_with_descriptors(results, Vec::new())
    }

    /// Replies with results and their descriptors: `UnixFd(0)` in the results refers to the first
    /// descriptor (see [`UnixFd`](wire::body::UnixFd)).
    ///
    /// # Errors
    ///
    /// [`SendError::DescriptorsRefused`] if the other end did not agree to pass descriptors;
    /// [`SendError::Disconnected`] if the connection ended; [`SendError::Write`] if the results
    /// cannot be encoded.
    pub fn reply_with_descriptors(
        &self,
        results: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), SendError> {
        self.answer_with(&self.message.reply(), results, descriptors)
    }

    /// Replies with an error: its name, and a text for people.
    ///
    /// # Errors
    ///
    /// If the connection ended, or the text contains a 0 byte.
    pub fn reply_error(&self, name: ErrorName<'_>, text: &str) -> Result<(), SendError> {
        self.answer_with(&self.message.error_reply(name), &(text,), Vec::new())
    }

    fn answer_with(
        &self,
        reply: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), SendError> {
        if !self.message.expects_reply() {
            return Ok(());
        }
        // A thread that panics may not wait in the connection again, which would send the answer.
        let departure = match thread::panicking() {
            true => Departure::AtOnce,
            false => Departure::Later,
        };
        let sent = self.connection.answer(departure, &self.message, reply, body, descriptors);
        if sent.is_ok() {
            self.is_answered.store(true, Ordering::Relaxed);
        }
        sent
    }
}

impl Drop for IncomingCall {
    fn drop(&mut self) {
        if thread::panicking() && !self.is_answered.load(Ordering::Relaxed) {
            // If it cannot be sent, the connection has ended.
            let _ = self.reply_error(error_name::FAILED, "the method panicked");
        }
    }
}
