//! What happens because nothing has happened for a while.

use std::io;
use std::mem;
use std::time::Duration;

use bus::{Input, PeerId};
use sys::timer::Timer;
use sys::transfer::unreceived;

use super::EventLoop;
use crate::connection::{End, Handshake, Phase};
use crate::outgoing::Charge;

/// Rings at the next deadline, or before: when deadlines go away it stays as it is, so that those
/// that never come cost no system call.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: Timer,
    /// When the timer rings.
    set_to: Option<Duration>,
    /// When it has to ring at the latest.
    wanted: Option<Duration>,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { timer: Timer::new()?, set_to: None, wanted: None })
    }

    pub(super) const fn timer(&self) -> &Timer {
        &self.timer
    }

    /// There is something to look at at this moment.
    pub(super) fn no_later_than(&mut self, at: Duration) {
        if self.wanted.is_none_or(|wanted| at < wanted) {
            self.wanted = Some(at);
        }
    }

    /// It rings, and from now on for what is asked for from now on.
    fn rang(&mut self) -> io::Result<()> {
        self.set_to = None;
        self.wanted = None;
        self.timer.set(None)
    }

    fn set(&mut self) -> io::Result<()> {
        let Some(wanted) = self.wanted else { return Ok(()) };
        if self.set_to.is_none_or(|set_to| wanted < set_to) {
            self.timer.set(Some(wanted))?;
            self.set_to = Some(wanted);
        }
        Ok(())
    }
}

impl EventLoop {
    /// Sees to it that the alarm rings at the next deadline.
    pub(super) fn set_alarm(&mut self) -> io::Result<()> {
        if let Some(deadline) = self.bus.next_deadline() {
            self.alarm.no_later_than(Duration::from_nanos(deadline.as_nanos()));
        }
        self.alarm.set()
    }

    /// Does what is due, after the alarm.
    pub(super) fn check_deadlines(&mut self) -> io::Result<()> {
        self.alarm.rang()?;
        self.reporter.sum_up(&self.log, &self.bus, self.now);
        if let Some(due) = self.reporter.due() {
            self.alarm.no_later_than(due);
        }
        self.check_metrics();
        self.check_dump();
        self.write_late_programs();
        self.check_memory();
        self.check_closed();
        if self.bus.next_deadline().is_some_and(|deadline| deadline <= self.time()) {
            self.handle(Input::DeadlinePassed);
        }
        for peer in mem::take(&mut self.work.timed) {
            self.check_timed(peer);
        }
        self.check_folders();
        self.release_senders();
        Ok(())
    }

    /// Takes note that a connection may not stay as it is now.
    pub(super) fn watch_time(&mut self, peer: PeerId) {
        let Some(connection) = self.table.get_mut(peer) else { return };
        let fds_timeout = self.bus.configuration().limits.pending_fd_timeout;
        let Some(due) = connection.due(fds_timeout) else { return };
        self.alarm.no_later_than(due);
        if !connection.is_timed {
            connection.is_timed = true;
            self.work.timed.push(peer);
        }
    }

    fn check_timed(&mut self, peer: PeerId) {
        let fds_timeout = self.bus.configuration().limits.pending_fd_timeout;
        let Some(connection) = self.table.get_mut(peer) else { return };
        connection.is_timed = false;
        let before = connection.writing.charge();
        connection.writing = connection.writing.window_ended(self.now);
        if before == Charge::OnSender && connection.writing.charge() == Charge::Free {
            // Its senders need not wait for it any longer.
            connection.queue.return_lent();
            let released = &mut self.buffers.released;
            connection.queue.set_charges(Charge::Free, |from, load| released.add(from, load));
        }
        if connection.retry_at.is_some_and(|at| at <= self.now) {
            connection.retry_at = None;
            self.flush_one(peer);
            self.watch_time(peer);
            return;
        }
        if let Phase::Handshake(Handshake { served_at, .. }) = &mut connection.phase
            && served_at.is_some_and(|at| at <= self.now)
        {
            *served_at = None;
            self.update_interest(peer);
            return;
        }
        if connection.incoming_fds_due(fds_timeout).is_some_and(|due| due <= self.now) {
            self.end(peer, End::FdsPending);
            return;
        }
        if connection.queued_fds_due(fds_timeout).is_some_and(|due| due <= self.now) {
            let unread = unreceived(&connection.socket).unwrap_or_default();
            if connection.has_read_nothing(unread, self.now) {
                self.end(peer, End::FdsUnread);
                return;
            }
        }
        self.watch_time(peer);
    }
}
