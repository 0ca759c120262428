//! Flow control: recipients that read more slowly than others send, and writes that the kernel does
//! not accept.

use std::time::Duration;

use bus::{Bus, Input, PeerId, Undelivered};
use sys::transfer::{self, ReceiveOutcome, TransferShortage, TransferWait, shut_down, unreceived};

use super::Switchboard;
use crate::back_pressure::{Load, Loads, Writing};
use crate::connection::Connection;
use crate::event_loop::loop_state::LoopState;
use crate::fds_in_kernel::UserFds;
use crate::outgoing::{Charge, Dropped};

/// Whether a queue is written once more.
pub(super) enum Flush {
    Done,
    Again,
}

/// Whether the bus currently does not read a connection: it is held, or it leaves too many replies
/// unread.
pub(crate) fn is_unread(connection: &Connection, bus: &Bus, now: Duration) -> bool {
    let is_held = connection.sent.is_over(&connection.limits)
        && connection.sent.all_recipients_are_behind(now)
        && !bus.owes_replies(connection.peer);
    is_held || connection.leaves_answers_unread()
}

/// The user that the kernel reported when the connection was accepted.
pub(super) fn kernel_user(bus: &Bus, peer: PeerId) -> Option<u32> {
    bus.credentials(peer).and_then(|known| known.uid)
}

/// How many descriptors may be written to a connection now.
pub(super) fn allowance(connection: &Connection, bus: &Bus, user_fds: &mut UserFds) -> u64 {
    let (own, wanted) = (connection.fds_in_kernel.count(), connection.queue.fds_of_first());
    user_fds.allowance(kernel_user(bus, connection.peer), own, wanted)
}

/// Notes that descriptors were written to a connection.
#[cold]
pub(super) fn note_fds_written(
    connection: &mut Connection,
    bus: &Bus,
    user_fds: &mut UserFds,
    count: u64,
) {
    let user = kernel_user(bus, connection.peer);
    user_fds.add(user, count);
    let end = connection.queue.written();
    connection.fds_in_kernel.wrote(end, count);
    if connection.fds_in_kernel.is_long() {
        settle_fds(connection, user, user_fds);
    }
}

/// Updates which descriptors a connection has received.
fn settle_fds(connection: &mut Connection, user: Option<u32>, user_fds: &mut UserFds) {
    // Data in a socket uses at least as much memory as its length.
    let Ok(unreceived) = unreceived(&connection.socket) else { return };
    let position = connection.queue.written().saturating_sub(unreceived);
    let received = connection.fds_in_kernel.received(position);
    user_fds.subtract(user, received);
}

impl Switchboard {
    /// Whether the bus reads a connection.
    pub(super) fn may_read(&self, peer: PeerId) -> bool {
        let connection = self.state.table.get(peer);
        connection.is_some_and(|connection| !is_unread(connection, &self.state.bus, self.state.now))
    }

    /// Handles a socket that has accepted everything.
    pub(super) fn unblocked(&mut self, peer: PeerId) {
        if let Some(connection) = self.state.table.get_mut(peer)
            && !connection.writing.is_flowing()
        {
            connection.writing = Writing::Flowing;
            for &(from, _) in self.buffers.released.list() {
                if let Some(sender) = self.state.table.get_mut(from)
                    && !sender.sent.is_broadcasting
                {
                    sender.sent.ready_at = self.state.now;
                }
            }
            self.note_freed();
        }
        self.update_interest(peer);
    }

    /// Handles a full socket. The queue counts against its senders, as long as the recipient keeps
    /// up.
    pub(super) fn blocked(&mut self, peer: PeerId, written: u64) {
        let Some(connection) = self.state.table.get_mut(peer) else { return };
        let before = connection.writing.charge();
        connection.writing = connection.writing.filled(written, self.state.now);
        if before == Charge::Free && connection.writing.charge() == Charge::OnSender {
            let mut charged = Loads::default();
            let charge = |from, load| charged.add(from, load);
            connection.queue.set_charges(Charge::OnSender, charge);
            charged.list().iter().for_each(|&(from, load)| self.charge_sender(from, load));
        }
        self.watch_time(peer);
        self.update_interest(peer);
    }

    /// Handles a message that can be neither written nor dropped now. The write is retried later.
    pub(super) fn starved(&mut self, peer: PeerId, written: u64) {
        if let Some(connection) = self.state.table.get_mut(peer) {
            connection.retry_at = Some(self.state.now + RETRY_AFTER);
        }
        self.blocked(peer, written);
    }

    pub(super) fn charge_sender(&mut self, from: PeerId, load: Load) {
        if let Some(sender) = self.state.table.get_mut(from) {
            sender.sent.add(load);
            self.update_interest(from);
        }
    }

    /// Removes written messages from the accounts of their senders.
    pub(crate) fn release_senders(&mut self) {
        for index in 0..self.buffers.released.list().len() {
            let (from, load) = self.buffers.released.list()[index];
            if let Some(sender) = self.state.table.get_mut(from) {
                sender.sent.subtract(load);
                self.update_interest(from);
            }
        }
        self.buffers.released.clear();
    }

    /// Closes the socket of an ended connection. If the peer has not received descriptors and still
    /// exists, the kernel counts them, so the bus does too.
    pub(super) fn close_socket(&mut self, connection: Connection, user: Option<u32>) {
        let count = connection.fds_in_kernel.count();
        if count == 0 {
            return;
        }
        let Connection { socket, watched, .. } = connection;
        if unreceived(&socket).unwrap_or(0) == 0 || shut_down(&socket).is_err() {
            self.user_fds.subtract(user, count);
            return;
        }
        if watched.is_some() {
            let _ = self.state.poller.remove(&socket);
        }
        // It may have sent its own end of the socket, which would keep the socket open forever.
        let mut space = [0; DISCARDED_AT_ONCE];
        let mut fds = Vec::new();
        while let Ok(ReceiveOutcome { bytes: 1.., .. }) =
            transfer::receive(&socket, &mut space, &mut fds, TransferWait::Never)
        {
            fds.clear();
        }
        self.user_fds.keep_closed(socket, user, count);
        self.state.alarm.no_later_than(self.state.now + CLOSED_AFTER);
    }

    /// Closes shut-down sockets whose peers have received all descriptors.
    pub(crate) fn check_closed(&mut self) {
        if self.user_fds.settle_closed() {
            self.state.alarm.no_later_than(self.state.now + CLOSED_AFTER);
        }
    }

    /// Handles a message with more descriptors than the recipient may have unread. If the recipient
    /// has some to receive, the message waits for that. If other connections of its user do not
    /// receive theirs, it is dropped: this connection must not wait for them.
    pub(super) fn over_allowance(&mut self, peer: PeerId, written: u64) -> Flush {
        let user = kernel_user(&self.state.bus, peer);
        let Some(connection) = self.state.table.get_mut(peer) else { return Flush::Done };
        settle_fds(connection, user, &mut self.user_fds);
        if self.has_allowance(peer) {
            return Flush::Again;
        }
        if self.state.table.get(peer).is_some_and(|connection| connection.fds_in_kernel.count() > 0)
        {
            self.starved(peer, written);
            return Flush::Done;
        }
        if !self.user_fds.is_full(user, self.state.now) {
            self.settle_user(user);
            if self.has_allowance(peer) {
                return Flush::Again;
            }
            self.user_fds.set_full(user, self.state.now);
        }
        let Some(connection) = self.state.table.get_mut(peer) else { return Flush::Done };
        let released = &mut self.buffers.released;
        let release = |from, load| released.add(from, load);
        let memory = &mut self.buffers.queues;
        // Descriptors are sent with the first byte of their message, so none of this message is
        // written.
        let Some(dropped) =
            connection.queue.drop_first(TransferShortage::Descriptors, memory, release)
        else {
            return Flush::Done;
        };
        self.undelivered(peer, &dropped);
        Flush::Again
    }

    /// Whether the descriptors of the next message for a connection may be written now.
    fn has_allowance(&mut self, peer: PeerId) -> bool {
        let Self { state, user_fds, .. } = self;
        let LoopState { table, bus, .. } = state;
        table.get(peer).is_some_and(|connection| {
            connection.queue.fds_of_first() <= allowance(connection, bus, user_fds)
        })
    }

    /// Updates which descriptors all connections of a user have received.
    fn settle_user(&mut self, user: Option<u32>) {
        self.check_closed();
        let Self { state, user_fds, .. } = self;
        let LoopState { table, bus, .. } = state;
        let with_fds = table.iter_mut().filter(|it| it.fds_in_kernel.count() > 0);
        for connection in with_fds.filter(|it| kernel_user(bus, it.peer) == user) {
            settle_fds(connection, user, user_fds);
        }
    }

    /// Reports to the bus that the kernel has not accepted a message.
    pub(super) fn undelivered(&mut self, to: PeerId, dropped: &Dropped) {
        let Dropped { from, ref head, amount, shortage } = *dropped;
        let shortage = match shortage {
            TransferShortage::Descriptors => bus::KernelShortage::Descriptors,
            TransferShortage::Memory => bus::KernelShortage::Memory,
            TransferShortage::Size => bus::KernelShortage::Size,
        };
        let input = Input::Undelivered(Undelivered { to, from, head, amount, shortage });
        self.state.bus.handle(self.state.time(), input, &mut self.buffers.effects_of_writes);
    }
}

/// The interval of checks of shut-down sockets.
const CLOSED_AFTER: Duration = Duration::from_secs(1);

/// Bytes that are read at once to discard them.
const DISCARDED_AT_ONCE: usize = 4096;

/// The delay before a write is retried that the kernel or the descriptor share of the user refused.
const RETRY_AFTER: Duration = Duration::from_millis(10);
