//! What can go wrong with a program of the demonstration.

use std::fmt;

use client::wire::body::ReadError;
use client::{
    CallError, ConnectError, EmitError, Ended, InterfaceError, InvalidName, SendError, ServeError,
    SubscribeError, SubscriptionError,
};

/// What can go wrong with a program of the demonstration.
#[derive(Debug)]
pub(super) enum DemoError {
    /// There is no bus.
    Connect(ConnectError),
    /// It runs already.
    NameTaken(String),
    /// The bus has ended.
    Ended(Ended),
    /// A call failed that should not.
    Call(CallError),
    /// A rule was not taken.
    Subscribe(SubscribeError),
    /// A message was not sent.
    Send(SendError),
    /// What came has other types than it should.
    Read(ReadError),
    /// An interface is defined wrongly.
    Interface(InterfaceError),
    /// An object cannot be served.
    Serve(ServeError),
    /// A name is malformed.
    Name(InvalidName),
}

impl From<ConnectError> for DemoError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<Ended> for DemoError {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl From<CallError> for DemoError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Disconnected(ended) => Self::Ended(ended),
            other => Self::Call(other),
        }
    }
}

impl From<SubscribeError> for DemoError {
    fn from(error: SubscribeError) -> Self {
        match error {
            SubscribeError::Call(error) => error.into(),
            other => Self::Subscribe(other),
        }
    }
}

impl From<SendError> for DemoError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Disconnected(ended) => Self::Ended(ended),
            other => Self::Send(other),
        }
    }
}

impl From<EmitError> for DemoError {
    fn from(error: EmitError) -> Self {
        match error {
            EmitError::Name(error) => Self::Name(error),
            EmitError::Send(error) => error.into(),
        }
    }
}

impl From<InterfaceError> for DemoError {
    fn from(error: InterfaceError) -> Self {
        Self::Interface(error)
    }
}

impl From<ServeError> for DemoError {
    fn from(error: ServeError) -> Self {
        Self::Serve(error)
    }
}

impl From<InvalidName> for DemoError {
    fn from(error: InvalidName) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::NameTaken(name) => write!(f, "{name} is taken: it runs already"),
            Self::Ended(ended) => ended.fmt(f),
            Self::Call(error) => error.fmt(f),
            Self::Subscribe(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
            Self::Read(error) => write!(f, "an answer has other types than it should: {error}"),
            Self::Interface(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Name(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DemoError {}

/// That signals were missed does not matter to a demonstration.
pub(super) fn unless_ended<T>(
    found: Result<Option<T>, SubscriptionError>,
) -> Result<Option<T>, DemoError> {
    match found {
        Ok(found) => Ok(found),
        Err(SubscriptionError::Lost { .. }) => Ok(None),
        Err(SubscriptionError::Disconnected(ended)) => Err(DemoError::Ended(ended)),
    }
}
