//! What can go wrong with a program of the demonstration.

use client::wire::body::ReadError;
use client::{
    CallError, ConnectError, EmitError, Ended, InterfaceError, InvalidName, SendError, ServeError,
    SubscribeError, SubscriptionError,
};

/// What can go wrong with a program of the demonstration.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("{0} is taken: it runs already")]
    NameTaken(String),
    #[error(transparent)]
    Ended(#[from] Ended),
    #[error(transparent)]
    Call(CallError),
    #[error(transparent)]
    Subscribe(SubscribeError),
    #[error(transparent)]
    Send(SendError),
    #[error("an answer has other types than it should: {0}")]
    Read(ReadError),
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Name(#[from] InvalidName),
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
