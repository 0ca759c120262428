//! Subscriptions whose signals a task awaits.

use super::connection::Connection;
use crate::link::{ReceivedMessage, WaitTarget};
use crate::{SubscriptionError, blocking};

/// A subscription: a queue of the signals that a match rule selects. Dropping it unsubscribes.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct Subscription {
    connection: Connection,
    inner: blocking::Subscription,
}

impl Subscription {
    pub(super) const fn new(connection: Connection, inner: blocking::Subscription) -> Self {
        Self { connection, inner }
    }

    /// Waits for the next signal.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Lost`] if the program read too slowly and signals were dropped; the
    /// next call returns the first signal after them. [`SubscriptionError::Disconnected`] if the
    /// connection ended.
    pub async fn next(&self) -> Result<ReceivedMessage, SubscriptionError> {
        let take = |core: &mut _| self.inner.take(core);
        match self.connection.wait(WaitTarget::Signal, |state| take(&mut state.core)).await {
            Ok(found) => found,
            Err(ended) => Err(SubscriptionError::Disconnected(ended)),
        }
    }

    /// The next signal, if it has been received; this does not read from the socket.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<ReceivedMessage>, SubscriptionError> {
        self.inner.poll()
    }
}
