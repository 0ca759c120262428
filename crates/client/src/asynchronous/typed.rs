//! Subscriptions to signals whose arguments have known types.

use std::fmt;
use std::marker::PhantomData;

use wire::body::DecodeArgs;

use super::subscription::Subscription;
use crate::{SignalError, blocking};

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

    /// Waits for the arguments of the next signal.
    ///
    /// # Errors
    ///
    /// [`SignalError::Read`] if the signal has other arguments; [`SignalError::Subscription`] as
    /// for [`Subscription::next`]. In both cases the next call returns a later signal, unless the
    /// connection ended.
    pub async fn next(&self) -> Result<A, SignalError> {
        blocking::signal_arguments(&self.inner.next().await?)
    }

    /// The arguments of the next signal, if it has been received; this does not read from the
    /// socket.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<A>, SignalError> {
        self.inner.poll()?.as_ref().map(blocking::signal_arguments).transpose()
    }
}

impl<A> fmt::Debug for SignalSubscription<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignalSubscription").field(&self.inner).finish()
    }
}
