//! Waiting for messages, and answering the calls that arrive meanwhile.

use std::time::Duration;

use unix::clock;

use super::connection::Connection;
use super::object::{emit_late_changes, emit_pending_changes, serve};
use super::request::IncomingCall;
use crate::core::{CallHandle, Ended, FailureCause, MessageDisposition};
use crate::link::{
    LinkGuard, LinkState, ReadMode, ReceivedMessage, WaitLimit, WaitOutcome, WaitTarget,
};

/// What [`Connection::process`] did with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processed {
    /// It answered a call.
    Request,
    /// It queued a signal for subscriptions.
    Signal {
        /// Number of these subscriptions, at least 1.
        subscriptions: usize,
    },
    /// It restored the connection after the bus went away; see
    /// [`next_reconnection`](Connection::next_reconnection).
    Reconnected,
    /// It stored the reply to a call, or dropped a message without a recipient in this program.
    Other,
    /// No message arrived in time.
    Nothing,
}

impl Connection {
    /// Waits for one message and processes it: answers a call to an [object](Self::add_object),
    /// queues a signal for its subscriptions, or drops a message without a recipient in this
    /// program.
    ///
    /// Waits for at most `timeout`; zero does not wait, and `None` waits forever. Answers are sent
    /// when this or another method next waits. Before waiting in another way, [flush](Self::flush).
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier messages were processed, the reason.
    pub fn process(&self, timeout: Option<Duration>) -> Result<Processed, Ended> {
        emit_late_changes(self);
        let limit = WaitLimit::after(timeout);
        let mut state = self.lock();
        state.set_read_mode(ReadMode::Requests);
        match self.wait(state, WaitTarget::Message, limit, |state| self.take_step(state)) {
            WaitOutcome::Found(step) => Ok(self.finish_step(step)),
            WaitOutcome::TimedOut => Ok(Processed::Nothing),
            WaitOutcome::Ended(ended) => Err(ended),
        }
    }

    /// Sends the change signals that wait for it, and reads calls from now on.
    pub(crate) fn begin_processing(&self) {
        self.set_read_mode(ReadMode::Requests);
        emit_late_changes(self);
    }

    /// Takes the next call to serve, or files a message of another type.
    pub(crate) fn take_step(&self, state: &mut LinkState) -> Option<ProcessStep> {
        let request = self.link().take_request(state);
        if request.is_some() {
            return request.map(ProcessStep::Serve);
        }
        let processed = match state.poll_message()? {
            MessageDisposition::Request => {
                return self.link().take_request(state).map(ProcessStep::Serve);
            }
            MessageDisposition::Signal { subscriptions } => Processed::Signal { subscriptions },
            MessageDisposition::Reconnected => Processed::Reconnected,
            MessageDisposition::Reply(_) | MessageDisposition::Ignored => Processed::Other,
        };
        Some(ProcessStep::Over(processed))
    }

    /// Answers the call of a step, and returns what the step did.
    pub(crate) fn finish_step(&self, step: ProcessStep) -> Processed {
        match step {
            ProcessStep::Serve(request) => {
                self.serve_request(request);
                Processed::Request
            }
            ProcessStep::Over(processed) => processed,
        }
    }

    /// Answers calls to the [objects](Self::add_object) for this long, so that a program can work
    /// at intervals. Signals that arrive meanwhile are queued for their subscriptions.
    ///
    /// # Errors
    ///
    /// If the connection ends, the reason.
    pub fn serve_for(&self, duration: Duration) -> Result<(), Ended> {
        let end = clock::monotonic().saturating_add(duration);
        loop {
            let left = end.saturating_sub(clock::monotonic());
            self.process(Some(left))?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Serves the objects until the connection ends, and returns the reason.
    pub fn serve(&self) -> Ended {
        loop {
            if let Err(ended) = self.process(None) {
                return ended;
            }
        }
    }

    /// Waits for the next call, which the program answers itself; the call is not dispatched to
    /// objects. Returns `None` if no call arrived in time.
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier calls were taken, the reason.
    pub fn next_request(&self, timeout: Option<Duration>) -> Result<Option<IncomingCall>, Ended> {
        self.set_read_mode(ReadMode::Requests);
        let take = |state: &mut LinkState| self.link().take_request(state);
        let found = self.wait_until(WaitTarget::Request, timeout, take)?;
        Ok(found.map(|message| IncomingCall::new(self.clone(), message)))
    }

    /// Waits for the next message of any type, without processing it. Returns `None` if no message
    /// arrived in time. This is for monitors and other tools.
    ///
    /// # Errors
    ///
    /// If the connection ended and all earlier messages were taken, the reason.
    pub fn next_message(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<ReceivedMessage>, Ended> {
        self.set_read_mode(ReadMode::Messages);
        self.wait_until(WaitTarget::Message, timeout, |state| state.core.poll_raw())
    }

    pub(super) fn wait_until<T>(
        &self,
        target: WaitTarget,
        timeout: Option<Duration>,
        ready: impl FnMut(&mut LinkState) -> Option<T>,
    ) -> Result<Option<T>, Ended> {
        let limit = WaitLimit::after(timeout);
        match self.wait(self.lock(), target, limit, ready) {
            WaitOutcome::Found(found) => Ok(Some(found)),
            WaitOutcome::TimedOut => Ok(None),
            WaitOutcome::Ended(ended) => Err(ended),
        }
    }

    /// Waits for the reply to a call. `now` is the time now, if the clock has just been read.
    pub(super) fn wait_for_reply<'c>(
        &'c self,
        state: LinkGuard<'c>,
        call: CallHandle,
        now: Option<Duration>,
    ) -> Result<ReceivedMessage, FailureCause> {
        let limit = WaitLimit { deadline: None, now };
        let ready = |state: &mut LinkState| state.core.poll_result(call);
        match self.wait(state, WaitTarget::Reply(call), limit, ready) {
            WaitOutcome::Found(outcome) => outcome,
            WaitOutcome::TimedOut | WaitOutcome::Ended(_) => {
                unreachable!("the core times out calls and fails them when the connection ends")
            }
        }
    }

    fn wait<'c, T>(
        &'c self,
        state: LinkGuard<'c>,
        target: WaitTarget,
        limit: WaitLimit,
        ready: impl FnMut(&mut LinkState) -> Option<T>,
    ) -> WaitOutcome<T> {
        self.shared.link.wait(state, target, limit, ready, |request| self.serve_request(request))
    }

    pub(crate) fn serve_request(&self, message: ReceivedMessage) {
        serve(IncomingCall::new(self.clone(), message));
        emit_pending_changes(self);
    }
}

/// The next step of [`Connection::process`], in both front ends.
pub(crate) enum ProcessStep {
    /// The call must be served, without the lock.
    Serve(ReceivedMessage),
    Over(Processed),
}
