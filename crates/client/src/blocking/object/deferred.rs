//! Replies that are sent after the method has returned.

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use wire::body::EncodeArgs;

use super::error::MethodError;
use crate::blocking::request::IncomingCall;

/// The reply to a call, which a thread or a task sends after the method has returned. `Out` is the
/// tuple of the results.
///
/// If it is dropped, the caller gets the error `org.freedesktop.DBus.Error.Failed`.
pub struct DeferredReply<Out> {
    /// The call, until it is answered.
    call: Option<IncomingCall>,
    results: PhantomData<fn(Out)>,
}

impl<Out> DeferredReply<Out> {
    /// Takes over the reply to a call.
    pub const fn new(call: IncomingCall) -> Self {
        Self { call: Some(call), results: PhantomData }
    }

    /// Sends the results or the error. If no thread or task waits in the connection, this only
    /// queues them.
    pub fn send(self, outcome: Result<Out, MethodError>)
    where
        Out: EncodeArgs,
    {
        self.send_with_descriptors(outcome, Vec::new());
    }

    /// Sends the results or the error, with descriptors for the [`UnixFd`](wire::body::UnixFd)
    /// values in the results.
    pub fn send_with_descriptors(
        mut self,
        outcome: Result<Out, MethodError>,
        descriptors: Vec<OwnedFd>,
    ) where
        Out: EncodeArgs,
    {
        if let Some(call) = self.call.take() {
            call.answer_with_descriptors(outcome, descriptors);
        }
    }
}

impl<Out> Drop for DeferredReply<Out> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.answer(Err::<(), _>(MethodError::failed("the method gave no answer")));
        }
    }
}

impl<Out> fmt::Debug for DeferredReply<Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredReply").field("call", &self.call).finish_non_exhaustive()
    }
}
