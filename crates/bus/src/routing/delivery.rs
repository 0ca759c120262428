//! Delivery, the last step: a message is queued for its recipient, or dropped.

use super::router::Router;
use crate::accounting::{Incident, IncidentKind, IncidentReason, Losing, QueueAccount};
use crate::registry::Peer;
use crate::types::{
    Delivery, DescriptorPassing, Effect, Effects, Forward, LimitHit, LogEvent, PeerId, Urgency,
};

impl Router {
    /// Queues a message for a connection. The caller has checked that the queue has room.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        urgency: Urgency,
        fx: &mut Effects,
    ) {
        let Some(peer) = self.registry.get_mut(to) else { return };
        if peer.queue.is_crowded() {
            self.push_for_sender(forward, to);
        } else {
            peer.queue.push(forward.len(), forward.message.unix_fds().into());
        }
        self.accounting.delivered();
        let Forward { head, body, fds, .. } = *forward;
        fx.push(Effect::Send(Delivery { to, head, body, fds, urgency }));
    }

    #[cold]
    fn push_for_sender(&mut self, forward: &Forward<'_>, to: PeerId) {
        let account = self.account_of(forward);
        let fds = forward.message.unix_fds().into();
        self.registry[to].queue.push_for(account, forward.len(), fds);
    }

    /// The account that pays for a message in a queue.
    fn account_of(&self, forward: &Forward<'_>) -> QueueAccount {
        match self.registry.get(forward.from) {
            Some(sender) if !forward.message.message_type().is_reply() => {
                QueueAccount::User(sender.user)
            }
            _ => QueueAccount::Unaccounted,
        }
    }

    /// True if a user has used its share of a queue, and there are other users snapshot need the rest.
    pub(super) fn is_over_share(&self, account: QueueAccount, recipient: &Peer, fds: u32) -> bool {
        self.registry.has_several_users()
            && match account {
                QueueAccount::User(user) => recipient.queue.has_used_share(user, fds),
                QueueAccount::Unaccounted => false,
            }
    }

    /// True if a queue does not have room for a message.
    #[inline]
    pub(super) fn has_no_room(&self, forward: &Forward<'_>, recipient: &Peer) -> bool {
        recipient.queue.is_crowded() && self.has_no_room_in_crowded(forward, recipient)
    }

    #[cold]
    fn has_no_room_in_crowded(&self, forward: &Forward<'_>, recipient: &Peer) -> bool {
        let fds = forward.message.unix_fds();
        recipient.queue.is_full(fds) || self.is_over_share(self.account_of(forward), recipient, fds)
    }

    /// Queues a copy of a message for a connection that it is not addressed to. Drops the copy if
    /// the queue does not have room.
    #[inline]
    pub(super) fn pass(&mut self, forward: &Forward<'_>, to: PeerId, fx: &mut Effects) {
        let fds = forward.message.unix_fds();
        let Some(peer) = self.registry.get(to) else { return };
        if fds > 0 && peer.fds == DescriptorPassing::Refused {
            return;
        }
        if self.has_no_room(forward, peer) {
            return self.lose(to, Some(forward.from), fx);
        }
        self.deliver(forward, to, Urgency::Passing, fx);
    }

    /// Counts a message that is dropped because the recipient does not read its queue.
    pub(super) fn lose(&mut self, to: PeerId, sender: Option<PeerId>, fx: &mut Effects) {
        let now = self.now;
        self.end_lanes_of(to, fx);
        let Some(peer) = self.registry.get_mut(to) else { return };
        peer.statistics.lost += 1;
        if let Some(losing) = &mut peer.statistics.losing {
            losing.missed.another(now);
            return self.accounting.lost(losing.limit.as_str());
        }
        let reached = peer.queue.limit_hit();
        peer.statistics.losing = Some(Losing::first(reached.limit, now));
        let cause = reached.limit.as_str();
        self.accounting.lost(cause);
        self.note(IncidentKind::Lost, cause, to, IncidentReason::NotReading, Some(reached));
        fx.log(LogEvent::LosingSignals { peer: to, sender, reached });
    }

    /// Ends the time in which messages for a connection are dropped. Returns their number, if any.
    pub(crate) fn stop_losing(&mut self, id: PeerId) -> Option<u64> {
        let peer = self.registry.get_mut(id)?;
        let Losing { mut missed, .. } = peer.statistics.losing.take()?;
        let snapshot = peer.nameless_snapshot();
        self.accounting.add_missed(IncidentKind::Lost, &snapshot, &mut missed);
        Some(missed.messages)
    }

    /// Adds an incident of a connection to the history.
    pub(crate) fn note(
        &mut self,
        kind: IncidentKind,
        cause: &'static str,
        peer: PeerId,
        reason: IncidentReason,
        reached: Option<LimitHit>,
    ) {
        let Some(snapshot) = self.registry.snapshot(peer) else { return };
        let incident = Incident::new(kind, cause, snapshot, reason, reached, self.now);
        self.accounting.add_incident(incident);
    }
}
