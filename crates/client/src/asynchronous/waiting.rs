//! Waiting in a task.

use std::io;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use unix::clock;

use super::runtime::Reactor;
use super::tasks::ConnectionTasks;
use crate::core::{Ended, SystemError};
use crate::link::{
    ConnectionLink, LinkState, OutageStep, ReceivedMessage, SendProgress, WaitTarget, WaiterId,
};

/// The place where a task waits.
#[derive(Clone, Copy)]
pub(super) struct WaitingPlace<'c> {
    pub(super) link: &'c ConnectionLink,
    pub(super) tasks: &'c ConnectionTasks,
    pub(super) target: WaitTarget,
}

impl WaitingPlace<'_> {
    /// Waits until `ready` returns a value. Meanwhile, files messages, and passes calls that the
    /// program does not read to `refuse`.
    ///
    /// The task is registered in `waiter`, and must be [removed](LinkState::remove_task) at the
    /// end.
    pub(super) fn poll<T>(
        self,
        context: &mut Context<'_>,
        waiter: &mut Option<WaiterId>,
        ready: &mut impl FnMut(&mut LinkState) -> Option<T>,
        refuse: &mut impl FnMut(ReceivedMessage),
    ) -> Poll<Result<T, Ended>> {
        let mut state = self.link.lock();
        if let Some(id) = *waiter {
            self.read_first(id, &mut state, context);
        }
        loop {
            waiter.iter().for_each(|id| state.note_running(*id));
            let found;
            (state, found) = self.link.file_messages(state, ready, refuse);
            if let Some(found) = found {
                // Its future may be kept although it has ended.
                waiter.take().into_iter().for_each(|id| state.remove_task(id));
                return Poll::Ready(found);
            }
            let id = state.register_task(*waiter, self.target, context.waker());
            *waiter = Some(id);
            if !state.is_driver(id) {
                match self.link.send(&mut state) {
                    SendProgress::Full => state.wake_driver(),
                    SendProgress::Done | SendProgress::Ending => state.wake_driver_in_time(),
                }
                return Poll::Pending;
            }
            if self.drive(&mut state, context) == DriveStep::Waiting {
                return Poll::Pending;
            }
        }
    }

    /// Reads before anything else if this task is the driver, and all messages were filed: most
    /// likely, it was woken because bytes have arrived.
    fn read_first(self, id: WaiterId, state: &mut LinkState, context: &mut Context<'_>) {
        if state.is_driver(id)
            && !state.is_interrupted()
            && state.core.has_filed_everything()
            && let Poll::Ready(Err(error)) = self.read(&*self.tasks.reactor(), state, context)
        {
            self.end(state, error);
        }
    }

    /// Sends, times out calls and reads, for all tasks.
    fn drive(self, state: &mut LinkState, context: &mut Context<'_>) -> DriveStep {
        if state.is_interrupted() {
            return self.reconnect(state, context);
        }
        let reactor = self.tasks.reactor();
        if self.link.send(state) == SendProgress::Full {
            let mut write = || match self.link.send(state) {
                SendProgress::Full => Err(io::ErrorKind::WouldBlock.into()),
                SendProgress::Done | SendProgress::Ending => Ok(()),
            };
            if let Poll::Ready(Err(error)) = reactor.poll_write(context, &mut write) {
                return self.end(state, error);
            }
        }
        if state.is_interrupted() {
            return DriveStep::Moved;
        }
        if state.core.waiting_len() == 0 {
            state.wake_senders();
        }
        if let Some(until) = state.driver_until()
            && reactor.poll_deadline(context, instant_of(until)).is_ready()
        {
            state.handle_driver_timeout();
            return DriveStep::Moved;
        }
        // Messages wait that were read already, so the sockets may stay silent.
        if state.core.must_read_lanes() && self.link.read_now(state) {
            return DriveStep::Moved;
        }
        match self.read(&*reactor, state, context) {
            Poll::Pending => DriveStep::Waiting,
            Poll::Ready(Ok(())) => DriveStep::Moved,
            Poll::Ready(Err(error)) => self.end(state, error),
        }
    }

    /// Reads if bytes may have arrived. Otherwise, the runtime wakes the task when they do.
    fn read(
        self,
        reactor: &dyn Reactor,
        state: &mut LinkState,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut read = || match self.link.read_now(state) {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        };
        self.tasks.incoming().unwrap_or(reactor).poll_read(context, &mut read)
    }

    /// Ends the connection, because the runtime cannot wait for its socket any more.
    fn end(self, state: &mut LinkState, error: io::Error) -> DriveStep {
        self.link.end(state, Ended::System(SystemError::from(error)));
        DriveStep::Moved
    }
}

/// Connecting again after the bus went away.
impl WaitingPlace<'_> {
    /// Continues an attempt to connect, or waits for the next one; times out calls meanwhile.
    fn reconnect(self, state: &mut LinkState, context: &mut Context<'_>) -> DriveStep {
        let now = clock::monotonic();
        if state.handle_timeout(now) {
            return DriveStep::Moved;
        }
        match self.tasks.poll_attempt(context) {
            Some(Poll::Ready(Some(restored))) => {
                self.link.restore(state, restored);
                return DriveStep::Moved;
            }
            Some(Poll::Ready(None)) => {
                self.link.attempt_failed(state);
                return DriveStep::Moved;
            }
            Some(Poll::Pending) => {}
            None => {
                if state.outage_step(now) == Some(OutageStep::Connect) {
                    self.tasks.start_attempt();
                    return DriveStep::Moved;
                }
            }
        }
        let Some(until) = state.driver_until() else { return DriveStep::Waiting };
        let reactor = self.tasks.reactor();
        match reactor.poll_deadline(context, instant_of(until)) {
            Poll::Ready(()) => {
                state.handle_driver_timeout();
                DriveStep::Moved
            }
            Poll::Pending => DriveStep::Waiting,
        }
    }
}

/// What the driver did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DriveStep {
    /// Bytes arrived, calls timed out, or the connection ended.
    Moved,
    /// The runtime will wake the task.
    Waiting,
}

/// Converts a time of the monotonic clock. Equal times have equal results.
pub(super) fn instant_of(at: Duration) -> Instant {
    static FIRST: OnceLock<(Duration, Instant)> = OnceLock::new();
    let (time, instant) = FIRST.get_or_init(|| {
        loop {
            let pair = (clock::monotonic(), Instant::now());
            // Otherwise, the thread was interrupted between the two.
            if clock::monotonic() - pair.0 < CONVERSION_ERROR_MAX {
                return pair;
            }
        }
    });
    let later = at.saturating_sub(*time).min(FAR);
    *instant + later
}

/// The maximum difference between a time and the converted time.
const CONVERSION_ERROR_MAX: Duration = Duration::from_millis(1);

/// The time after which nobody waits any more. Longer times overflow.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
