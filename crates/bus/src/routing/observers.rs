//! Copies of messages for connections that they are not addressed to: monitors and eavesdroppers.
//!
//! Observers never block other connections. If an observer does not read its queue, its copies are
//! dropped, counted and reported, and other connections are not affected ("Monitoring", "Match
//! Rules").

use core::num::NonZeroU32;

use wire::Message;

use super::router::Router;
use crate::access::{AccessQuery, check_receiving, deny};
use crate::accounting::{IncidentKind, IncidentReason, MissedCount};
use crate::policy::MessageClass;
use crate::types::{
    AccessDenial, Effects, Forward, LogEvent, PeerId, RefusalReason, Span, WithheldBy,
};

/// A message that is withheld from a connection.
struct Withheld {
    by: WithheldBy,
    /// The error that the sender would get, if a monitor or the log needs it.
    reason: Option<RefusalReason>,
    sender: Option<PeerId>,
    serial: NonZeroU32,
}

impl Router {
    /// True if a monitor or a trace sees messages to others.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.tracing.is_on() || self.matching.has_monitors()
    }

    /// Shows a message to traces and monitors.
    #[inline]
    pub(crate) fn show_monitors(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        self.tracing.record(forward, addressed, None, &self.registry, fx);
        self.copy_to_monitors(forward, addressed, fx);
    }

    /// Queues a copy of a message for each monitor with a matching rule.
    #[inline]
    pub(crate) fn copy_to_monitors(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if !self.matching.has_monitors() || forward.is_too_long() {
            return;
        }
        let (message, from) = (forward.message, Some(forward.from));
        self.matching.find_monitors(&self.registry, message, from, addressed);
        let mark = self.accounting.mark_deliveries();
        self.for_each_recipient(|router, to| router.pass(forward, to, fx));
        self.accounting.uncount_recipients(mark);
    }

    /// Queues a copy of a message for each connection that eavesdrops on it.
    #[inline]
    pub(crate) fn show_eavesdroppers(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if !self.matching.has_eavesdroppers() || forward.is_too_long() {
            return;
        }
        let Forward { message, from, .. } = *forward;
        self.matching.find_eavesdroppers(&self.registry, message, from, addressed);
        self.pass_to_observers(forward, addressed, fx);
    }

    /// Decides whether a subscriber or an eavesdropper may get a copy of a message. If not, only
    /// monitors are notified. On a bus without restrictions, this check can be skipped.
    #[inline(never)]
    pub(super) fn may_listen(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> bool {
        let query = AccessQuery::to_observer(forward.message, forward.from, to);
        if !self.may_observe(&query) {
            return false;
        }
        let outcome = self.access.check(&query, &self.registry, &self.config, fx);
        let Err(denial) = outcome else { return true };
        let withheld = self.withheld(denial, &query, to);
        self.note_withheld(withheld, to, fx);
        false
    }

    /// Decides whether a connection may get the message of the bus itself that was written to
    /// `head`. On a bus without restrictions, this check can be skipped.
    #[inline(never)]
    pub(crate) fn may_receive_own(
        &mut self,
        to: PeerId,
        head: Span,
        class: MessageClass,
        fx: &mut Effects,
    ) -> bool {
        if self.registry.get(to).is_none_or(|peer| peer.receives_all(class)) {
            return true;
        }
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        let query = AccessQuery::of_bus(&message, to, class);
        let Err(denial) = check_receiving(&query, &self.registry) else { return true };
        let withheld = self.withheld(denial, &query, to);
        self.note_withheld(withheld, to, fx);
        false
    }

    fn withheld(&self, denial: AccessDenial, query: &AccessQuery<'_>, to: PeerId) -> Withheld {
        let is_first =
            self.registry.get(to).is_some_and(|peer| peer.statistics.withheld.messages == 0);
        let is_wanted = is_first || self.matching.has_monitors();
        Withheld {
            by: denial.withheld_by(),
            reason: is_wanted.then(|| deny(denial, query, &self.registry)),
            sender: query.from,
            serial: query.message.serial(),
        }
    }

    /// Counts a message that is withheld from a connection. Only monitors see each of them.
    fn note_withheld(&mut self, withheld: Withheld, to: PeerId, fx: &mut Effects) {
        let Withheld { by, reason, sender, serial } = withheld;
        self.accounting.withheld(by);
        let Some(peer) = self.registry.get_mut(to) else { return };
        let is_closing = peer.is_closing();
        let missed = &mut peer.statistics.withheld;
        let is_first = missed.messages == 0 && !is_closing;
        match missed.messages {
            0 => *missed = MissedCount::first(self.now),
            _ => missed.another(self.now),
        }
        let Some(reason) = reason else { return };
        if self.matching.has_monitors() {
            self.show_monitors_refusal(sender, serial, &reason, fx);
        }
        if is_first {
            let detail = IncidentReason::Refused(reason.clone());
            self.note(IncidentKind::Withheld, by.word(), to, detail, None);
            fx.log(LogEvent::Withheld { sender, peer: to, by, reason });
        }
    }
}
