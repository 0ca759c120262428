//! The link to the bus: the core of a connection, and its socket.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::time::Duration;

use unix::clock;

use super::socket::{BusSocket, SendOutcome, SocketReadOutcome, WaitInterest, WaitStatus};
use crate::core::{Core, Ended, Incoming};

/// A received message with its file descriptors.
pub type ReceivedMessage = Incoming<OwnedFd>;

/// The core of a connection and its socket.
pub(super) struct ConnectionLink {
    pub(super) core: RefCell<Core<OwnedFd>>,
    pub(super) socket: BusSocket,
    pub(super) read_mode: Cell<ReadMode>,
}

/// The incoming messages that the program reads in addition to replies and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReadMode {
    /// No calls: they are answered with errors at once, so that no caller has to wait for its timeout.
    Replies,
    /// Calls: the program has objects, or reads calls itself.
    Requests,
    /// All messages, unprocessed: the link must not dispatch any itself.
    Messages,
}

/// The result of sending and waiting once.
pub(super) enum LinkExchange {
    /// New bytes or a timeout may have changed the state.
    Moved,
    /// The deadline passed without new bytes.
    TimedOut,
}

impl ConnectionLink {
    pub(super) const fn new(core: Core<OwnedFd>, socket: BusSocket) -> Self {
        Self { core: RefCell::new(core), socket, read_mode: Cell::new(ReadMode::Replies) }
    }

    /// Sends all queued bytes, then waits for bytes, for a deadline of the core, or for `deadline`.
    pub(super) fn exchange(
        &self,
        core: &mut Core<OwnedFd>,
        deadline: Option<Duration>,
    ) -> LinkExchange {
        let wake = [deadline, core.next_timeout()].into_iter().flatten().min();
        self.flush_until(core, wake);
        let now = clock::monotonic();
        let next = core.next_timeout();
        if next.is_some_and(|next| next <= now) {
            core.handle_timeout(now);
            return LinkExchange::Moved;
        }
        let wake = [deadline, next].into_iter().flatten().min();
        let timeout = wake.map(|wake| wake.saturating_sub(now));
        let outcome = self.receive(core, timeout);
        match outcome {
            SocketReadOutcome::Nothing if deadline.is_some_and(|deadline| deadline <= now) => {
                LinkExchange::TimedOut
            }
            _ => LinkExchange::Moved,
        }
    }

    fn receive(&self, core: &mut Core<OwnedFd>, timeout: Option<Duration>) -> SocketReadOutcome {
        if core.ended().is_some() {
            return SocketReadOutcome::Bytes(0);
        }
        let mut descriptors = Vec::new();
        match self.socket.receive(core.space(), &mut descriptors, timeout) {
            Ok(SocketReadOutcome::Bytes(count)) => {
                core.handle_received(count, descriptors);
                SocketReadOutcome::Bytes(count)
            }
            Ok(SocketReadOutcome::Nothing) => SocketReadOutcome::Nothing,
            Err(ended) => {
                core.handle_ended(ended);
                SocketReadOutcome::Bytes(0)
            }
        }
    }

    /// Sends all queued bytes, and waits while the socket is full.
    pub(super) fn flush(&self, core: &mut Core<OwnedFd>) {
        self.flush_until(core, None);
    }

    /// Sends all queued bytes. Stops if the socket is full at the deadline.
    ///
    /// While the socket is full, incoming bytes are read, so that two sides that both send much do
    /// not deadlock.
    pub(super) fn flush_until(&self, core: &mut Core<OwnedFd>, deadline: Option<Duration>) {
        while let Some(transmit) = core.poll_transmit() {
            match self.socket.send(&transmit) {
                Ok(SendOutcome::Bytes(count)) => core.transmitted(count),
                Ok(SendOutcome::Full) => match self.wait_for_room(core, deadline) {
                    Ok(WaitStatus::Ready) => {}
                    Ok(WaitStatus::TimedOut) => return,
                    Err(ended) => core.handle_ended(ended),
                },
                Err(ended) => {
                    // Messages that the other side sent before it closed the socket may still be
                    // unread.
                    self.read_remaining(core);
                    core.handle_ended(ended);
                }
            }
        }
    }

    fn wait_for_room(
        &self,
        core: &mut Core<OwnedFd>,
        deadline: Option<Duration>,
    ) -> Result<WaitStatus, Ended> {
        let timeout = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()));
        if self.read_mode.get() == ReadMode::Messages {
            return self.socket.wait_for(WaitInterest::Writable, timeout);
        }
        let status = self.socket.wait_for(WaitInterest::WritableOrReadable, timeout)?;
        while core.poll_message().is_some() {}
        self.receive(core, Some(Duration::ZERO));
        Ok(status)
    }

    fn read_remaining(&self, core: &mut Core<OwnedFd>) {
        if self.read_mode.get() == ReadMode::Messages {
            return;
        }
        while core.ended().is_none() {
            while core.poll_message().is_some() {}
            if self.receive(core, Some(Duration::ZERO)) == SocketReadOutcome::Nothing {
                break;
            }
        }
    }
}

impl Drop for ConnectionLink {
    fn drop(&mut self) {
        let deadline = clock::monotonic().saturating_add(LINGER);
        self.flush_until(&mut self.core.borrow_mut(), Some(deadline));
    }
}

/// How long dropping a connection waits for the bus to read the queued bytes.
const LINGER: Duration = Duration::from_secs(1);

/// The time on the monotonic clock at which a timeout that starts now expires.
pub(super) fn deadline(timeout: Option<Duration>) -> Option<Duration> {
    timeout.map(|timeout| clock::monotonic().saturating_add(timeout))
}
