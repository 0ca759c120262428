//! Subscriptions whose signals a task awaits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::call::StartedCall;
use super::connection::Connection;
use crate::link::{ReceivedMessage, WaitTarget};
use crate::{SubscribeError, SubscriptionError, blocking};

/// A subscription whose rule the bus may not have confirmed yet: a future of the subscription. The
/// rule is queued already. Dropping it unsubscribes.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct StartedSubscription {
    /// `None` once the future has ended.
    stage: Option<SubscriptionStage>,
}

/// How far the start of a subscription has come.
#[derive(Debug)]
enum SubscriptionStage {
    /// The bus must confirm the rule.
    Unconfirmed(Subscription, StartedCall),
    /// The bus had the rule already.
    Confirmed(Subscription),
    Failed(SubscribeError),
}

impl StartedSubscription {
    pub(super) fn new(
        connection: &Connection,
        started: Result<blocking::StartedSubscription, SubscribeError>,
    ) -> Self {
        let stage = match started.map(blocking::StartedSubscription::into_parts) {
            Ok((subscription, confirmation)) => {
                let subscription =
                    Subscription { connection: connection.clone(), inner: subscription };
                match confirmation {
                    Some(call) => {
                        let call = StartedCall::new(connection.clone(), Ok(call));
                        SubscriptionStage::Unconfirmed(subscription, call)
                    }
                    None => SubscriptionStage::Confirmed(subscription),
                }
            }
            Err(error) => SubscriptionStage::Failed(error),
        };
        Self { stage: Some(stage) }
    }
}

impl Future for StartedSubscription {
    type Output = Result<Subscription, SubscribeError>;

    /// # Panics
    ///
    /// If the subscription was returned before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let confirmed = match &mut self.stage {
            Some(SubscriptionStage::Unconfirmed(_, call)) => {
                ready!(Pin::new(call).poll(context)).map(drop)
            }
            _ => Ok(()),
        };
        let stage = self.stage.take().expect("a future is not polled after its end");
        Poll::Ready(match stage {
            SubscriptionStage::Unconfirmed(subscription, _) => {
                confirmed.map(|()| subscription).map_err(SubscribeError::Call)
            }
            SubscriptionStage::Confirmed(subscription) => Ok(subscription),
            SubscriptionStage::Failed(error) => Err(error),
        })
    }
}

/// A subscription: a queue of the signals that a match rule selects. Dropping it unsubscribes.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct Subscription {
    connection: Connection,
    inner: blocking::Subscription,
}

impl Subscription {
    /// Waits for the next signal.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Lost`] if the program read too slowly and signals were dropped; the
    /// next call returns the first signal after them. [`SubscriptionError::Reconnected`] if the bus
    /// went away and the connection was restored; the next call returns the first signal after
    /// that. [`SubscriptionError::Disconnected`] if the connection ended.
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
