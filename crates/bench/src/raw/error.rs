//! Why a peer of a workload cannot go on.

use std::{fmt, io};

use wire::address::AddressError;
use wire::message::{InvalidMessage, Message, MessageType, WriteError};

/// Why a peer of a workload cannot go on.
#[derive(Debug)]
pub enum RawError {
    /// The address is none.
    Address(AddressError),
    /// The address is of a kind that the workloads do not use.
    Transport,
    /// The socket failed, or the other side is gone.
    Socket(io::Error),
    /// The other side closed the connection.
    Closed,
    /// Nothing came for as long as the peer waits.
    Silence,
    /// The handshake did not end with an OK; this came instead.
    Refused(String),
    /// The bus answered with an error: its name and text.
    Answer(String),
    /// What came is no message.
    Invalid(InvalidMessage),
    /// What should be sent cannot be.
    Write(WriteError),
    /// What came is a message, but not the one that was due.
    Unexpected(&'static str),
}

impl RawError {
    /// What a message says that was not due.
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

    /// What the system says, in the terms of a peer.
    pub(crate) fn system(error: impl Into<io::Error>) -> Self {
        let error = error.into();
        match error.kind() {
            io::ErrorKind::WouldBlock => Self::Silence,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Socket(error),
        }
    }
}

impl fmt::Display for RawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Transport => f.write_str("the workloads reach a bus by a unix or tcp address"),
            Self::Socket(error) => error.fmt(f),
            Self::Closed => f.write_str("the bus closed the connection"),
            Self::Silence => f.write_str("nothing came for too long"),
            Self::Refused(line) => write!(f, "the bus refused the handshake: {line}"),
            Self::Answer(text) => write!(f, "the bus answered: {text}"),
            Self::Invalid(error) => write!(f, "the bus sent what is no message: {error}"),
            Self::Write(error) => error.fmt(f),
            Self::Unexpected(what) => write!(f, "a message came that was not due: {what}"),
        }
    }
}

impl std::error::Error for RawError {}

impl From<InvalidMessage> for RawError {
    fn from(error: InvalidMessage) -> Self {
        Self::Invalid(error)
    }
}

impl From<WriteError> for RawError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
