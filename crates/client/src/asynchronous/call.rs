//! Calls whose replies are pending.

use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::connection::Connection;
use crate::link::{ReceivedMessage, WaitTarget, WaiterId};
use crate::{CallError, blocking};

/// A call whose reply is pending: a future of the reply. Dropping it abandons the call: the reply
/// will be ignored.
#[derive(Debug)]
#[must_use = "a call that is dropped is given up"]
pub struct StartedCall {
    connection: Connection,
    call: CallStart,
    waiter: Option<WaiterId>,
}

/// Whether a call was queued.
#[derive(Debug)]
enum CallStart {
    Queued(blocking::StartedCall),
    /// The error is taken once.
    Failed(Option<CallError>),
}

impl StartedCall {
    pub(super) fn new(
        connection: Connection,
        call: Result<blocking::StartedCall, CallError>,
    ) -> Self {
        let call = call.map_or_else(|error| CallStart::Failed(Some(error)), CallStart::Queued);
        Self { connection, call, waiter: None }
    }

    /// The serial of the call, which identifies it in a recording; `None` if it was not queued.
    pub fn serial(&self) -> Option<NonZeroU32> {
        match &self.call {
            CallStart::Queued(call) => Some(call.serial()),
            CallStart::Failed(_) => None,
        }
    }
}

impl Future for StartedCall {
    type Output = Result<ReceivedMessage, CallError>;

    /// # Panics
    ///
    /// If the reply was returned before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { connection, call, waiter } = &mut *self;
        match call {
            CallStart::Failed(error) => {
                Poll::Ready(Err(error.take().expect("a future is not polled after its end")))
            }
            CallStart::Queued(call) => {
                let target = WaitTarget::Reply(call.handle());
                let mut take = |state: &mut crate::link::LinkState| call.take(&mut state.core);
                let polled = connection.poll(context, target, waiter, &mut take);
                polled.map(|found| found.unwrap_or_else(|end| Err(CallError::Disconnected(end))))
            }
        }
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        self.connection.stop_waiting(self.waiter);
    }
}
