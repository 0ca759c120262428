//! Replies to calls, with results or errors.

use std::os::fd::OwnedFd;

use super::error::MethodError;
use crate::blocking::request::IncomingCall;
use crate::core::{MessageBody, SendError};

impl MethodError {
    /// Replies to a call with this error. Each 0 byte in the text, which a D-Bus text cannot have,
    /// becomes U+FFFD. If the text does not fit into a message, the reply has none.
    ///
    /// # Errors
    ///
    /// If the connection ended.
    pub fn send(&self, request: &IncomingCall) -> Result<(), SendError> {
        let mut sent = request.reply_error(self.name(), self.message());
        if let Err(SendError::Write(_)) = sent {
            let text = self.message().replace('\0', "\u{fffd}");
            sent = request.reply_error(self.name(), &text);
        }
        match sent {
            Err(SendError::Write(_)) => request.reply_error(self.name(), ""),
            sent => sent,
        }
    }
}

impl IncomingCall {
    /// Replies with the results of the method, or with its error. If the results cannot be encoded,
    /// the caller gets an error. If the connection ended, the answer is dropped.
    pub fn answer(&self, outcome: Result<impl MessageBody, MethodError>) {
        self.answer_with_descriptors(outcome, Vec::new());
    }

    /// Replies like [`answer`](Self::answer), with descriptors for the
    /// [`UnixFd`](wire::body::UnixFd) values in the results.
    pub fn answer_with_descriptors(
        &self,
        outcome: Result<impl MessageBody, MethodError>,
        descriptors: Vec<OwnedFd>,
    ) {
        let sent = match outcome {
            Ok(results) => self.reply_with_descriptors(&results, descriptors),
            Err(error) => error.send(self),
        };
        let refused = match sent {
            Ok(()) | Err(SendError::Disconnected(_)) => return,
            Err(error) => MethodError::failed(format!("the results cannot be sent: {error}")),
        };
        // If the reply cannot be sent, the connection ended.
        let _ = refused.send(self);
    }
}
