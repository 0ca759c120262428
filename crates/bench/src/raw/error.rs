//! Errors of the raw client.

use std::io;

use wire::address::AddressError;
use wire::message::{InvalidMessage, Message, MessageType, WriteError};

/// A peer of a workload cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("expected a unix or tcp address: the workloads support no other transport")]
    Transport,
    #[error(transparent)]
    Socket(io::Error),
    #[error("the bus closed the connection")]
    Closed,
    #[error("timed out waiting for a message")]
    Silence,
    #[error("the bus refused the handshake: {0}")]
    Refused(String),
    #[error("the bus answered: {0}")]
    Answer(String),
    #[error("the bus sent an invalid message: {0}")]
    Invalid(#[from] InvalidMessage),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("an unexpected message arrived: {0}")]
    Unexpected(&'static str),
}

impl RawError {
    /// Creates the error for an unexpected message.
    pub(crate) fn describe(message: &[u8]) -> Self {
        match Message::parse(message) {
            Err(error) => Self::Invalid(error),
            Ok(message) if message.message_type() == MessageType::Error => {
                let text = message.read::<(&str,)>().map_or("", |(text,)| text);
                let name = message.error_name().map_or("", |name| name.as_str());
                Self::Answer(format!("{name}: {text}"))
            }
            Ok(message) => Self::Unexpected(message.message_type().as_str()),
        }
    }

    /// Converts an error of the system.
    pub(crate) fn system(error: impl Into<io::Error>) -> Self {
        let error = error.into();
        match error.kind() {
            io::ErrorKind::WouldBlock => Self::Silence,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Socket(error),
        }
    }
}
