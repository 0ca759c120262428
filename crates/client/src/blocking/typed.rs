//! Subscriptions to signals whose arguments have known types.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use wire::body::{Decode, DecodeArgs, ReadError, Reader, Shape};

use super::subscription::{Subscription, SubscriptionError};
use crate::link::ReceivedMessage;

/// A subscription to a signal with the arguments `A`, a tuple. Dropping it unsubscribes.
#[must_use = "a subscription that is dropped has ended"]
pub struct SignalSubscription<A> {
    inner: Subscription,
    arguments: PhantomData<fn() -> A>,
}

impl<A: for<'a> DecodeArgs<'a>> SignalSubscription<A> {
    /// Decodes the arguments of all signals of a subscription as `A`.
    pub const fn new(inner: Subscription) -> Self {
        Self { inner, arguments: PhantomData }
    }

    /// The subscription itself, for the messages with their senders and paths.
    pub const fn inner(&self) -> &Subscription {
        &self.inner
    }

    /// Waits for the arguments of the next signal, for at most `timeout`, or forever; `None` if no
    /// signal arrived.
    ///
    /// # Errors
    ///
    /// [`SignalError::Read`] if the signal has other arguments; [`SignalError::Subscription`] as
    /// for [`Subscription::next`]. In both cases the next call returns a later signal, unless the
    /// connection ended.
    pub fn next(&self, timeout: Option<Duration>) -> Result<Option<A>, SignalError> {
        self.inner.next(timeout)?.as_ref().map(signal_arguments).transpose()
    }

    /// The arguments of the next signal, if it has been received; this does not read from the
    /// socket.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<A>, SignalError> {
        self.inner.poll()?.as_ref().map(signal_arguments).transpose()
    }
}

/// Decodes the arguments of a signal.
pub(crate) fn signal_arguments<A: for<'a> DecodeArgs<'a>>(
    signal: &ReceivedMessage,
) -> Result<A, SignalError> {
    Ok(signal.read()?)
}

impl<A> fmt::Debug for SignalSubscription<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignalSubscription").field(&self.inner).finish()
    }
}

/// The reason why a typed subscription returned no arguments.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignalError {
    /// The subscription has ended, or signals were lost.
    #[error(transparent)]
    Subscription(#[from] SubscriptionError),
    /// The arguments of the signal have other types.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The arguments of the signal `PropertiesChanged`. `P` is a dict whose entries can all be absent,
/// as the attribute [`proxy`](macro@crate::proxy) generates it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PropertyChanges<P> {
    /// The interface of the properties.
    pub interface: String,
    /// The properties whose new values the signal contains.
    pub changed: P,
    /// The names of other properties that changed.
    pub invalidated: Vec<String>,
}

impl<'a, P: Decode<'a>> DecodeArgs<'a> for PropertyChanges<P> {
    const SHAPES: &'static [&'static Shape] = <(String, P, Vec<String>)>::SHAPES;

    fn decode_args(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let (interface, changed, invalidated) = DecodeArgs::decode_args(reader)?;
        Ok(Self { interface, changed, invalidated })
    }
}
