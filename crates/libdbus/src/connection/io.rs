//! Reading and writing, with and without waiting.

use std::os::fd::OwnedFd;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wire::sasl::server::AuthenticatedIdentity;

use super::lanes::PauseReason;
use super::{ConnectionGuard, DBusConnection};
use crate::event::{ERROR, HANGUP, READABLE, WRITABLE};
use crate::transport::{SocketTransport, TransferState};

impl DBusConnection {
    /// Reads and writes what a main loop has found out about the socket.
    pub(super) fn handle_watch(&self, flags: u32) -> bool {
        let mut guard = self.lock();
        if flags & WRITABLE != 0 {
            guard.write();
        }
        if flags & (HANGUP | ERROR) != 0 {
            guard = self.read(guard, ReadScope::UntilEnd);
        } else if flags & READABLE != 0 {
            guard = self.read(guard, ReadScope::All);
        }
        self.settle(&mut guard);
        true
    }

    /// Reports the results of reading and writing to the program.
    pub(super) fn settle(&self, guard: &mut ConnectionGuard<'_>) {
        let is_full = self.is_full(guard);
        guard.update_watches(is_full);
        guard.update_status();
        if guard.waits_for_socket {
            // This thread may have received what the waiting thread needs.
            self.wake();
        }
    }

    /// Continues to read when messages were freed.
    pub(super) fn resume_reading(&self, guard: &mut ConnectionGuard<'_>) {
        if guard.lanes.pause() == Some(PauseReason::QueueFull) && !self.is_full(guard) {
            if guard.process(self, false) == TransferState::Closed {
                guard.disconnect();
            }
            guard.write();
            return self.settle(guard);
        }
        let is_full = self.is_full(guard);
        guard.update_watches(is_full);
    }

    /// Reads what has arrived.
    pub(super) fn read<'c>(
        &'c self,
        mut guard: ConnectionGuard<'c>,
        scope: ReadScope,
    ) -> ConnectionGuard<'c> {
        if self.is_full(&guard) && scope != ReadScope::UntilEnd {
            return guard;
        }
        guard = match scope {
            ReadScope::Lanes => self.receive(guard, |_, _, _| TransferState::Open),
            ReadScope::All | ReadScope::UntilEnd => self.receive(guard, SocketTransport::read),
        };
        while let Some(identity) = guard.transport.as_ref().and_then(SocketTransport::undecided) {
            guard = self.decide(guard, identity);
        }
        // The client may have sent BEGIN, so messages can follow now.
        if !guard.outgoing.is_empty() {
            guard.write();
        }
        guard
    }

    fn receive<'c>(
        &self,
        mut guard: ConnectionGuard<'c>,
        read: impl Fn(
            &mut SocketTransport,
            crate::transport::ReceiveLimits,
            &mut Vec<(crate::message::DBusMessageContent, usize)>,
        ) -> TransferState,
    ) -> ConnectionGuard<'c> {
        let (mut messages, limits) = (Vec::new(), guard.limits);
        let Some(transport) = &mut guard.transport else { return guard };
        let outcome = read(transport, limits, &mut messages);
        let (guid, identity) = (transport.guid, transport.identity);
        let (is_ready, passes_fds) = (transport.is_ready(), transport.passes_fds());
        if guard.peer.is_none() && identity.is_none() && is_ready {
            // A server does not report its own identifier, as in libdbus.
            guard.guid = guid.or(guard.guid);
        }
        guard.identity = guard.identity.or(identity);
        guard.is_authenticated |= is_ready;
        guard.passes_fds |= passes_fds;
        guard.lanes.add_from_bus(messages);
        let is_closed = outcome == TransferState::Closed;
        if guard.process(self, is_closed) == TransferState::Closed || is_closed {
            guard.disconnect();
        }
        guard
    }

    /// Decides about a client that is authenticated. A function of the program may decide.
    fn decide<'c>(
        &'c self,
        guard: ConnectionGuard<'c>,
        identity: AuthenticatedIdentity,
    ) -> ConnectionGuard<'c> {
        let function = guard.user_function.as_ref();
        let function = function.map(|(function, data)| (*function, std::sync::Arc::clone(data)));
        let allows_anonymous = guard.allows_anonymous;
        drop(guard);
        let accepted = match (identity, function) {
            (AuthenticatedIdentity::Uid(uid), Some((Some(function), data))) => {
                // SAFETY: the program has passed this function for this data.
                (unsafe { function(self, uid.into(), data.data) }) != 0
            }
            (AuthenticatedIdentity::Uid(uid), _) => {
                uid == 0 || uid == rustix::process::geteuid().as_raw() || allows_anonymous
            }
            (_, _) => allows_anonymous,
        };
        let mut guard = self.lock();
        if !accepted {
            guard.disconnect();
            return guard;
        }
        if let Some(transport) = &mut guard.transport {
            transport.accept_client();
            guard.is_authenticated = true;
        }
        self.receive(guard, SocketTransport::process)
    }

    /// Waits until the socket is ready, another thread has received something, or the time is over.
    /// Reads and writes what is possible. `None` waits without limit. `call` is the serial of the
    /// call whose reply the program waits for.
    pub(super) fn wait<'c>(
        &'c self,
        mut guard: ConnectionGuard<'c>,
        timeout: Option<Duration>,
        call: Option<u32>,
    ) -> ConnectionGuard<'c> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        // As with libdbus, a program learns of a new status only after the wait.
        guard.reports_status = false;
        // Calls that are waiting must be made before this thread waits.
        if !guard.deferred.is_empty() {
            drop(guard);
            guard = self.lock();
        }
        if guard.waits_for_socket {
            return self.wait_for_release(guard, timeout);
        }
        let is_full = self.is_full(&guard);
        let deadline = match guard.lanes.pause() {
            Some(PauseReason::QueueFull) if !is_full => {
                self.resume_reading(&mut guard);
                return guard;
            }
            // What has arrived from the bus is read first.
            Some(PauseReason::LanesBusy) if !is_full => Some(Instant::now()),
            _ => deadline,
        };
        let Some(transport) = &guard.transport else { return guard };
        let mut sockets = vec![std::sync::Arc::clone(&transport.socket)];
        let mut interest = PollFlags::empty();
        let mut expected = None;
        if !is_full || !transport.is_ready() {
            interest |= PollFlags::IN;
            sockets.extend(guard.lanes.sockets());
            expected = guard.lanes.expected(call);
        }
        if transport.has_output(&guard.outgoing) {
            interest |= PollFlags::OUT;
        }
        guard.waits_for_socket = true;
        drop(guard);
        let mut expected = expected.filter(|_| interest == PollFlags::IN);
        let has_packet = expected.as_mut().is_some_and(|expected| expected.wait(rest(deadline)));
        let (ready, are_lanes_ready) = match has_packet {
            true => (PollFlags::empty(), true),
            false => self.poll(&sockets, interest, deadline),
        };
        let mut guard = self.lock();
        guard.waits_for_socket = false;
        expected.iter().for_each(|expected| guard.lanes.note_wait(expected));
        self.notify_waiting(&guard);
        if ready.intersects(PollFlags::OUT) {
            guard.write();
        }
        let closed = ready.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        if closed {
            guard = self.read(guard, ReadScope::UntilEnd);
        } else if ready.intersects(PollFlags::IN) {
            guard = self.read(guard, ReadScope::All);
        } else if are_lanes_ready || guard.lanes.pause() == Some(PauseReason::LanesBusy) {
            guard = self.read(guard, ReadScope::Lanes);
        }
        self.settle(&mut guard);
        guard
    }

    /// Waits until another thread has stopped to wait for the socket, or the time is over.
    pub(super) fn wait_for_release<'c>(
        &'c self,
        mut guard: ConnectionGuard<'c>,
        timeout: Option<Duration>,
    ) -> ConnectionGuard<'c> {
        guard.waiting_threads += 1;
        let state = guard.state.take().expect("the lock is held");
        guard.state = Some(match timeout {
            None => self.released.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(timeout) => {
                let waited = self.released.wait_timeout(state, timeout);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        });
        guard.waiting_threads -= 1;
        guard
    }

    /// Continues the threads that wait for this thread.
    pub(super) fn notify_waiting(&self, guard: &ConnectionGuard<'_>) {
        // Without this condition, the system is called for each message.
        if guard.waiting_threads > 0 {
            self.released.notify_all();
        }
    }

    /// Waits for the socket of the connection, which is the first, and the sockets of lanes. Returns
    /// the state of the first, and whether another one is ready.
    fn poll(
        &self,
        sockets: &[std::sync::Arc<OwnedFd>],
        interest: PollFlags,
        deadline: Option<Instant>,
    ) -> (PollFlags, bool) {
        let lanes = sockets.iter().skip(1).map(|lane| PollFd::new(lane, PollFlags::IN));
        let connection = sockets.iter().take(1).map(|socket| PollFd::new(socket, interest));
        let wake = self.wake.iter().map(|wake| PollFd::new(wake, PollFlags::IN));
        let mut fds: Vec<_> = connection.chain(lanes).chain(wake).collect();
        loop {
            let timeout = rest(deadline).and_then(|rest| Timespec::try_from(rest).ok());
            match poll(&mut fds, timeout.as_ref()) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return (PollFlags::empty(), false),
                Ok(_) => break,
            }
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let ready = fds[0].revents();
        let are_lanes_ready = fds[1..sockets.len()].iter().any(is_ready);
        let is_woken = fds.get(sockets.len()).is_some_and(is_ready);
        if let Some(wake) = self.wake.as_ref().filter(|_| is_woken) {
            // It fails only if it is not readable any more.
            let _ = rustix::io::read(wake, &mut [0; 8]);
        }
        (ready, are_lanes_ready)
    }

    /// Ends the wait of another thread, so that it also waits for room to write.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // It fails only if it is readable already.
            let _ = rustix::io::write(wake, &1_u64.to_ne_bytes());
        }
    }
}

/// The time until a deadline.
fn rest(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|at| at.saturating_duration_since(Instant::now()))
}

/// What a connection reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadScope {
    /// What has arrived on its socket and on its lanes.
    All,
    /// What has arrived on its lanes.
    Lanes,
    /// The same as `All`, even if the program has too many messages: the peer has closed it.
    UntilEnd,
}

/// The time for an argument in milliseconds; a negative number has no limit.
pub(super) fn duration(milliseconds: i32) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}
