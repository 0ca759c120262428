//! State that all parts of the loop share: the bus, the connections, the poller, the clock and the
//! log.

use std::io;
use std::time::Duration;

use bus::{
    Bus, ForeignError, Incident, IncidentKind, IncidentReason, LogEvent, PeerId, PeerSnapshot, Time,
};
use sys::poll::Poller;

use super::alarm::Alarm;
use crate::activation::Children;
use crate::connection::End;
use crate::fault::Fault;
use crate::log::Log;
use crate::report::{DescribedPeer, ReloadReport, Reporter};
use crate::table::ConnectionTable;
use crate::throttled_peer::ThrottledPeer;

/// State that all parts of the loop share.
pub(super) struct LoopState {
    pub(super) poller: Poller,
    pub(super) bus: Bus,
    pub(super) table: ConnectionTable,
    /// The processes of services, with their last output.
    pub(super) children: Children,
    pub(super) log: Log,
    pub(super) reporter: Reporter,
    pub(super) alarm: Alarm,
    /// The time of the current turn.
    pub(super) now: Duration,
}

impl LoopState {
    /// The time of the current turn, as the bus counts it.
    pub(super) const fn time(&self) -> Time {
        Time::from_nanos(self.now.as_nanos() as u64)
    }

    /// Sets the alarm to the next deadline of the bus.
    pub(super) fn set_alarm(&mut self) -> io::Result<()> {
        if let Some(deadline) = self.bus.next_deadline() {
            self.alarm.no_later_than(Duration::from_nanos(deadline.as_nanos()));
        }
        self.alarm.set()
    }

    /// Logs a fault, and adds it to the history.
    pub(super) fn fault(&mut self, fault: Fault) {
        self.reporter.fault(&self.log, &self.bus, &fault, self.now);
        self.watch_log();
        let (kind, cause, peer) = (IncidentKind::Fault, fault.word(), PeerSnapshot::default());
        let reason = IncidentReason::Foreign(ForeignError::new(fault));
        self.bus.note_incident(Incident::new(kind, cause, peer, reason, None, self.time()));
    }

    /// Logs an event that the bus reports.
    pub(super) fn log_event(&mut self, event: &LogEvent) {
        let described = self.reporter.event(&self.log, &self.bus, &self.children, event, self.now);
        self.describe(described);
    }

    /// Logs the end of a connection, unless the peer closed it.
    pub(super) fn log_end(&mut self, peer: PeerId, end: &End) {
        if *end != End::Closed {
            let described = self.reporter.end(&self.log, &self.bus, peer, end, self.now);
            self.describe(described);
        }
    }

    /// Logs the result of a reload.
    pub(super) fn log_reload(&mut self, report: &ReloadReport<'_>) {
        let described = self.reporter.reload(&self.log, &self.bus, report, self.now);
        self.describe(described);
    }

    /// Logs a delayed or rejected peer, and adds it to the history.
    pub(super) fn log_throttled(&mut self, peer: ThrottledPeer) {
        self.reporter.throttled(&self.log, &self.bus, &peer, self.now);
        self.watch_log();
        let (kind, cause) = (peer.outcome.incident_kind(), peer.reason.cause());
        let (who, hit) = (peer.snapshot(), peer.reason.limit_hit());
        let reason = IncidentReason::Foreign(ForeignError::new(peer));
        self.bus.note_incident(Incident::new(kind, cause, who, reason, hit, self.time()));
    }

    /// Logs how many lines expired windows suppressed.
    pub(super) fn sum_up_log(&mut self) {
        self.reporter.sum_up(&self.log, &self.bus, self.now);
        self.watch_log();
    }

    /// Stores the name of a process that was looked up for a log line.
    fn describe(&mut self, described: Option<DescribedPeer>) {
        self.watch_log();
        if let Some(DescribedPeer { peer, process }) = described {
            self.bus.describe(peer, process);
        }
    }

    /// Sets the alarm to the next summary of suppressed log lines.
    fn watch_log(&mut self) {
        if let Some(due) = self.reporter.due() {
            self.alarm.no_later_than(due);
        }
    }
}
