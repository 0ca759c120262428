//! Connecting again while threads wait.

use std::time::Duration;

use unix::clock;

use super::socket::IdleSocket;
use super::{
    ConnectionIdentity, ConnectionLink, EstablishedSocket, LinkGuard, LinkState, OutageStep,
    Recovery, WaitStep, WaitTarget,
};
use crate::core::{Ended, SystemError, earliest};

/// The state of an outage.
impl LinkState {
    /// True while the bus is away, and the connection will be restored.
    pub(crate) const fn is_interrupted(&self) -> bool {
        matches!(self.recovery, Recovery::Outage(_))
    }

    /// The time at which a call times out or the next attempt to connect is due.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        let attempt = match &self.recovery {
            Recovery::Outage(outage) => outage.next_attempt(),
            Recovery::None | Recovery::Armed(_) => None,
        };
        earliest(attempt, self.core.next_timeout())
    }

    /// Decides what a waiter does during an outage; `None` if there is none.
    pub(crate) fn outage_step(&mut self, now: Duration) -> Option<OutageStep> {
        match &mut self.recovery {
            Recovery::Outage(outage) => Some(outage.step(now)),
            Recovery::None | Recovery::Armed(_) => None,
        }
    }
}

impl ConnectionLink {
    /// Continues with a new connection, or ends if its socket cannot be used.
    pub(crate) fn restore(&self, state: &mut LinkState, restored: EstablishedSocket) {
        let Recovery::Outage(outage) = &state.recovery else { return };
        let limits = outage.limits();
        let EstablishedSocket { established, socket } = restored;
        self.forget_socket();
        if let Err(error) = self.socket.replace(socket) {
            return state.end_outage(Ended::System(SystemError::from(error)));
        }
        let unique_name = established.unique_name.clone();
        self.identity.add(ConnectionIdentity::new(unique_name, established.guid));
        state.lanes.clear(&self.group);
        if let Err(error) = self.group.add(&self.socket) {
            return state.end_outage(Ended::System(SystemError::from(error)));
        }
        state.core.resume(established);
        state.recovery = Recovery::Armed(limits);
        state.idle = None;
        state.wake_all();
    }

    /// Removes the socket of the bus from the group, before another one takes its place.
    fn forget_socket(&self) {
        // It fails only if the group does not have it.
        let _ = self.group.remove(&self.socket);
    }

    /// Records a failed attempt to connect.
    pub(crate) fn attempt_failed(&self, state: &mut LinkState) {
        let Recovery::Outage(outage) = &mut state.recovery else { return };
        match outage.attempt_failed(clock::monotonic()) {
            Some(reason) => state.end_outage(reason),
            // Otherwise, programs that poll the socket would be woken by its end again and again.
            // If that fails, they are.
            None if state.idle.is_none() => {
                self.forget_socket();
                state.idle = IdleSocket::new().ok();
                let _ = state.idle.as_ref().map(|idle| self.socket.rest(idle));
            }
            None => {}
        }
    }

    /// Connects again, or waits until the next attempt, until another thread has connected, or
    /// until a deadline.
    pub(super) fn reconnect_once<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        target: WaitTarget,
        deadline: Option<Duration>,
    ) -> (LinkGuard<'l>, WaitStep) {
        let now = clock::monotonic();
        if state.handle_timeout(now) {
            return (state, WaitStep::Moved);
        }
        let wake = match state.outage_step(now) {
            Some(OutageStep::Connect) => return (self.connect(state), WaitStep::Moved),
            Some(OutageStep::WaitUntil(next)) => Some(next),
            Some(OutageStep::WaitForOther) | None => None,
        };
        if deadline.is_some_and(|deadline| deadline <= now) {
            return (state, WaitStep::TimedOut);
        }
        let wake = earliest(wake, earliest(deadline, state.core.next_timeout()));
        let state = self.sleep(state, target, wake.map(|wake| wake.saturating_sub(now)));
        (state, WaitStep::Moved)
    }

    /// Tries to connect once, without the lock.
    fn connect<'l>(&'l self, mut state: LinkGuard<'l>) -> LinkGuard<'l> {
        drop(state);
        let restored = self.redial.as_ref().and_then(|redial| redial.redial());
        state = self.lock();
        match restored {
            Some(restored) => self.restore(&mut state, restored),
            None => self.attempt_failed(&mut state),
        }
        state
    }
}

impl LinkState {
    /// Ends the connection, because it cannot be restored.
    fn end_outage(&mut self, reason: Ended) {
        self.recovery = Recovery::None;
        self.core.handle_ended(reason);
        self.wake_all();
    }
}
