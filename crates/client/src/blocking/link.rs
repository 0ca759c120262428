//! The link to the bus: the core, and the socket that its bytes pass through.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::time::Duration;

use sys::clock;

use super::socket::{BusSocket, Departure, SendRoom, SocketArrival, Woken};
use crate::core::{Core, Ended, Incoming};

/// A received message with its file descriptors.
pub type ReceivedMessage = Incoming<OwnedFd>;

/// The core of a connection and its socket.
pub(super) struct ConnectionLink {
    pub(super) core: RefCell<Core<OwnedFd>>,
    pub(super) socket: BusSocket,
    pub(super) taking: Cell<Taking>,
}

/// What the program reads from the connection besides replies and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taking {
    /// Nothing: incoming calls are answered at once, so that no caller waits in vain.
    Nothing,
    /// Calls: the program has objects, or reads calls itself.
    Requests,
    /// All messages as they are: none may be sorted out.
    Messages,
}

/// The result of an exchange with the other side.
pub(super) enum LinkExchange {
    /// There may be something new.
    Moved,
    /// The deadline passed.
    TimedOut,
}

impl ConnectionLink {
    pub(super) const fn new(core: Core<OwnedFd>, socket: BusSocket) -> Self {
        Self { core: RefCell::new(core), socket, taking: Cell::new(Taking::Nothing) }
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
        let patience = wake.map(|wake| wake.saturating_sub(now));
        let arrival = self.receive(core, patience);
        match arrival {
            SocketArrival::Nothing if deadline.is_some_and(|deadline| deadline <= now) => {
                LinkExchange::TimedOut
            }
            _ => LinkExchange::Moved,
        }
    }

    fn receive(&self, core: &mut Core<OwnedFd>, patience: Option<Duration>) -> SocketArrival {
        if core.ended().is_some() {
            return SocketArrival::Bytes(0);
        }
        let mut descriptors = Vec::new();
        match self.socket.receive(core.space(), &mut descriptors, patience) {
            Ok(SocketArrival::Bytes(count)) => {
                core.handle_received(count, descriptors);
                SocketArrival::Bytes(count)
            }
            Ok(SocketArrival::Nothing) => SocketArrival::Nothing,
            Err(ended) => {
                core.handle_ended(ended);
                SocketArrival::Bytes(0)
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
    /// not wait for each other.
    pub(super) fn flush_until(&self, core: &mut Core<OwnedFd>, deadline: Option<Duration>) {
        while let Some(transmit) = core.poll_transmit() {
            match self.socket.send(&transmit) {
                Ok(Departure::Bytes(count)) => core.transmitted(count),
                Ok(Departure::Full) => match self.make_room(core, deadline) {
                    Ok(Woken::Ready) => {}
                    Ok(Woken::TimedOut) => return,
                    Err(ended) => core.handle_ended(ended),
                },
                Err(ended) => {
                    // What the other side said before it went may still be there to read.
                    self.absorb_rest(core);
                    core.handle_ended(ended);
                }
            }
        }
    }

    fn make_room(
        &self,
        core: &mut Core<OwnedFd>,
        deadline: Option<Duration>,
    ) -> Result<Woken, Ended> {
        let patience = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()));
        if self.taking.get() == Taking::Messages {
            return self.socket.wait_for(SendRoom::ToSend, patience);
        }
        let woken = self.socket.wait_for(SendRoom::ToSendOrBytes, patience)?;
        while core.poll_message().is_some() {}
        self.receive(core, Some(Duration::ZERO));
        Ok(woken)
    }

    fn absorb_rest(&self, core: &mut Core<OwnedFd>) {
        if self.taking.get() == Taking::Messages {
            return;
        }
        while core.ended().is_none() {
            while core.poll_message().is_some() {}
            if self.receive(core, Some(Duration::ZERO)) == SocketArrival::Nothing {
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

/// The moment of the monotonic clock at which a timeout that starts now ends.
pub(super) fn deadline(timeout: Option<Duration>) -> Option<Duration> {
    timeout.map(|timeout| clock::monotonic().saturating_add(timeout))
}
