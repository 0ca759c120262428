//! Deadlines of connections whose state must change in time.

use bus::PeerId;
use sys::transfer::unreceived;

use super::Switchboard;
use crate::connection::{End, Handshake, Phase};
use crate::outgoing::Charge;

impl Switchboard {
    /// Adds a connection to the list of connections with a deadline.
    pub(crate) fn watch_time(&mut self, peer: PeerId) {
        let Some(connection) = self.state.table.get_mut(peer) else { return };
        let fds_timeout = self.state.bus.configuration().limits.pending_fd_timeout;
        let Some(due) = connection.due(fds_timeout) else { return };
        self.state.alarm.no_later_than(due);
        if !connection.is_timed {
            connection.is_timed = true;
            self.work.timed.push(peer);
        }
    }

    pub(crate) fn check_timed(&mut self, peer: PeerId) {
        let fds_timeout = self.state.bus.configuration().limits.pending_fd_timeout;
        let Some(connection) = self.state.table.get_mut(peer) else { return };
        connection.is_timed = false;
        let before = connection.writing.charge();
        connection.writing = connection.writing.window_ended(self.state.now);
        if before == Charge::OnSender && connection.writing.charge() == Charge::Free {
            // Its senders need not wait for it any longer.
            connection.queue.return_lent();
            let released = &mut self.buffers.released;
            connection.queue.set_charges(Charge::Free, |from, load| released.add(from, load));
        }
        if connection.retry_at.is_some_and(|at| at <= self.state.now) {
            connection.retry_at = None;
            self.flush_one(peer);
            self.watch_time(peer);
            return;
        }
        if let Phase::Handshake(Handshake { served_at, .. }) = &mut connection.phase
            && served_at.is_some_and(|at| at <= self.state.now)
        {
            *served_at = None;
            self.update_interest(peer);
            return;
        }
        if connection.incoming_fds_due(fds_timeout).is_some_and(|due| due <= self.state.now) {
            self.end(peer, End::FdsPending);
            return;
        }
        if connection.queued_fds_due(fds_timeout).is_some_and(|due| due <= self.state.now) {
            let unread = unreceived(&connection.socket).unwrap_or_default();
            if connection.has_read_nothing(unread, self.state.now) {
                self.end(peer, End::FdsUnread);
                return;
            }
        }
        self.watch_time(peer);
    }
}
