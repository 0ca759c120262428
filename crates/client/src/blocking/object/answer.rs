//! Answering calls.

use super::error::MethodError;
use crate::blocking::request::IncomingCall;
use crate::core::{MessageBody, SendError};

impl MethodError {
    /// Answers a call with the error.
    pub fn send(&self, request: &IncomingCall) -> Result<(), SendError> {
        match request.reply_error(self.name(), self.message()) {
            // A text with a 0 byte cannot travel; the name is worth more than nothing.
            Err(SendError::Write(_)) => request.reply_error(self.name(), ""),
            sent => sent,
        }
    }
}

/// Answers a call with its results or its error.
pub(super) fn answer<Out: MessageBody>(request: &IncomingCall, done: Result<Out, MethodError>) {
    match done {
        Ok(results) => answer_with(request, &results),
        // An answer that cannot be sent is one that nobody waits for.
        Err(error) => drop(error.send(request)),
    }
}

pub(super) fn answer_with(request: &IncomingCall, results: &impl MessageBody) {
    if let Err(SendError::Write(error)) = request.reply(results) {
        let error = MethodError::failed(format!("the results cannot be written: {error}"));
        answer::<()>(request, Err(error));
    }
}
