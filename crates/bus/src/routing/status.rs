//! Figures and incidents that involve several components.

use wire::message::InvalidReason;

use super::router::Router;
use crate::accounting::{Gauges, IncidentKind, IncidentReason, Losing};
use crate::registry::Peer;
use crate::types::{DisconnectReason, End, LimitHit, LimitName, PeerId};

impl Router {
    /// Number of connections, names, match rules and pending calls.
    pub(crate) fn size(&self) -> usize {
        self.registry.registered()
            + self.registry.unregistered()
            + self.registry.name_counts().current
            + self.matching.counts().current
            + self.calls.len()
    }

    /// The present state in numbers. This call visits each connection.
    pub(crate) fn gauges(&self) -> Gauges {
        let mut gauges = Gauges {
            connections: self.registry.registered() as u64,
            incomplete: self.registry.unregistered() as u64,
            traces: self.tracing.len() as u64,
            names: self.registry.name_counts().current as u64,
            rules: self.matching.counts().current as u64,
            pending_replies: self.calls.len() as u64,
            lanes: self.lanes.open_count() as u64,
            ..Gauges::default()
        };
        for peer in self.registry.iter() {
            let queued = peer.queue.amount();
            gauges.monitors += u64::from(peer.is_monitor());
            gauges.queued_messages += queued.messages;
            gauges.queued_bytes += queued.bytes;
            gauges.losing += u64::from(peer.statistics.losing.is_some());
        }
        gauges
    }

    /// Updates the entries of the history about missed messages.
    pub(crate) fn settle_history(&mut self) {
        let Self { registry, accounting, .. } = self;
        for peer in registry.iter_mut() {
            let snapshot = peer.nameless_snapshot();
            accounting.add_missed(IncidentKind::Withheld, &snapshot, &mut peer.statistics.withheld);
            if let Some(Losing { missed, .. }) = &mut peer.statistics.losing {
                accounting.add_missed(IncidentKind::Lost, &snapshot, missed);
            }
        }
    }

    /// Updates the entry of the history about messages that were withheld from a connection.
    pub(crate) fn settle_withheld(&mut self, id: PeerId) {
        let Self { registry, accounting, .. } = self;
        if let Some(peer) = registry.get_mut(id) {
            let snapshot = peer.nameless_snapshot();
            accounting.add_missed(IncidentKind::Withheld, &snapshot, &mut peer.statistics.withheld);
        }
    }

    /// Counts the end of a connection. If the bus closed the connection, adds an incident.
    pub(crate) fn note_end(&mut self, id: PeerId, end: &End) {
        self.accounting.count(IncidentKind::Disconnected, end.cause());
        if *end != End::Closed {
            if !self.registry.get(id).is_some_and(Peer::is_registered) {
                self.accounting.count(IncidentKind::Rejected, end.cause());
            }
            self.accounting.disconnected_by_bus();
            let reached = self.limit_hit_by(id, end);
            let reason = IncidentReason::Disconnected(*end);
            self.note(IncidentKind::Disconnected, end.cause(), id, reason, reached);
        }
    }

    /// The limit that ended a connection, if any.
    pub(crate) fn limit_hit_by(&self, peer: PeerId, end: &End) -> Option<LimitHit> {
        let limits = &self.config.limits;
        match end {
            End::Bus(DisconnectReason::AuthTimeout) => {
                let max = limits.auth_timeout?.as_millis() as u64;
                let used = self.now.since(self.registry.get(peer)?.since).as_millis() as u64;
                Some(LimitHit { limit: LimitName::AuthTimeout, max, used })
            }
            End::FdsPending | End::FdsUnread => {
                let max = limits.pending_fd_timeout?.as_millis() as u64;
                Some(LimitHit { limit: LimitName::PendingFdTimeout, max, used: max })
            }
            End::Invalid(invalid) => limit_of_message(invalid.reason),
            _ => None,
        }
    }
}

/// The limit that makes a message invalid, if any.
const fn limit_of_message(reason: InvalidReason) -> Option<LimitHit> {
    let (limit, max, used) = match reason {
        InvalidReason::OverConfiguredLimit { len, limit } => (LimitName::MessageSize, limit, len),
        InvalidReason::DescriptorsOverLimit { received, limit } => {
            (LimitName::MessageFds, limit, received)
        }
        _ => return None,
    };
    Some(LimitHit { limit, max: max as u64, used: used as u64 })
}
