//! Replies to calls, with results or errors.

use super::error::MethodError;
use crate::blocking::request::IncomingCall;
use crate::core::{MessageBody, SendError};

impl MethodError {
    /// Replies to a call with this error.
    ///
    /// # Errors
    ///
    /// If the connection ended.
    pub fn send(&self, request: &IncomingCall) -> Result<(), SendError> {
        match request.reply_error(self.name(), self.message()) {
            // A text that contains a 0 byte cannot be encoded; send the name without a text.
            Err(SendError::Write(_)) => request.reply_error(self.name(), ""),
            sent => sent,
        }
    }
}

/// Replies to a call with its results or its error.
pub(super) fn answer<Out: MessageBody>(request: &IncomingCall, done: Result<Out, MethodError>) {
    match done {
        Ok(results) => answer_with(request, &results),
        // If the reply cannot be sent, the connection ended.
        Err(error) => drop(error.send(request)),
    }
}

pub(super) fn answer_with(request: &IncomingCall, results: &impl MessageBody) {
    if let Err(SendError::Write(error)) = request.reply(results) {
        let error = MethodError::failed(format!("the results cannot be encoded: {error}"));
        answer::<()>(request, Err(error));
    }
}
