//! Who gets a copy of a message without being its addressed recipient: those whose rules match a
//! signal, those who eavesdrop, and monitors.
//!
//! None of them can hold anything up. One that does not read loses messages; the loss is counted
//! and reported, and nobody else feels it ("Monitoring", "Match Rules").

use wire::Message;

use crate::bus::Bus;
use crate::effects::{Effects, Event, Urgency};
use crate::history::{Culprit, Missed, Trouble};
use crate::input::{FdPassing, PeerId};
use crate::matches::{ArgsRead, Subject};
use crate::peers::Losing;
use crate::route::Forward;

impl Bus {
    /// Fills `self.recipients` with those whose rules match a signal that is addressed to nobody.
    pub(crate) fn find_listeners(&mut self, message: &Message<'_>, sender: Option<PeerId>) {
        let generation = self.plain_rules.generation()
            + self.eavesdropping_rules.generation()
            + self.owner_generation;
        let Self { peers, names, plain_rules, eavesdropping_rules, routes, recipients, .. } = self;
        let subject = Subject::new(message, sender, None, peers, names);
        recipients.clear();
        if let Some(route) = routes.get(&subject, generation) {
            route.recipients.iter().for_each(|&peer| recipients.add(peer));
        } else {
            let plain = plain_rules.find_without_args(&subject, recipients);
            let eavesdropping = eavesdropping_rules.find_without_args(&subject, recipients);
            if plain == ArgsRead::No && eavesdropping == ArgsRead::No {
                routes.put(&subject, generation, recipients.list());
            }
        }
        plain_rules.find_by_args(&subject, recipients);
        eavesdropping_rules.find_by_args(&subject, recipients);
    }

    /// Fills `self.recipients` with the monitors that want to see a message.
    pub(crate) fn find_monitors(
        &mut self,
        message: &Message<'_>,
        sender: Option<PeerId>,
        addressed: Option<PeerId>,
    ) {
        let Self { peers, names, monitoring_rules, recipients, .. } = self;
        let subject = Subject::new(message, sender, addressed, peers, names);
        recipients.clear();
        monitoring_rules.find_all(&subject, recipients);
    }

    /// Shows a message to those who look on: traces, and monitors.
    pub(crate) fn show_monitors(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        self.trace(forward, addressed, fx);
        self.copy_to_monitors(forward, addressed, fx);
    }

    /// Gives a copy of a message to the monitors that want it.
    pub(crate) fn copy_to_monitors(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.monitoring_rules.is_empty() || forward.is_too_long() {
            return;
        }
        self.find_monitors(forward.message, Some(forward.from), addressed);
        let others = self.counters.recipients;
        let recipients = core::mem::take(&mut self.recipients);
        recipients.list().iter().for_each(|&to| self.pass(forward, to, fx));
        self.recipients = recipients;
        self.counters.recipients = others;
    }

    /// Gives a copy of a message to those who see what is addressed to others.
    pub(crate) fn show_eavesdroppers(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.eavesdropping_rules.is_empty() || forward.is_too_long() {
            return;
        }
        let Self { peers, names, eavesdropping_rules, recipients, .. } = self;
        let subject = Subject::new(forward.message, Some(forward.from), addressed, peers, names);
        recipients.clear();
        eavesdropping_rules.find_all(&subject, recipients);
        self.pass_to_listeners(forward, addressed, fx);
    }

    /// Queues a message for all in `self.recipients` who may have it, but `addressed`, who has it
    /// already.
    pub(crate) fn pass_to_listeners(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        let recipients = core::mem::take(&mut self.recipients);
        let restricts = self.restricts();
        for &to in recipients.list() {
            if Some(to) != addressed && (!restricts || self.may_listen(forward, to, fx)) {
                self.pass(forward, to, fx);
            }
        }
        self.recipients = recipients;
    }

    /// Queues a message for somebody it is not addressed to; loses it if there is no room.
    #[inline]
    fn pass(&mut self, forward: &Forward<'_>, to: PeerId, fx: &mut Effects) {
        let fds = forward.message.unix_fds();
        let Some(peer) = self.peers.get(to) else { return };
        if fds > 0 && peer.fds == FdPassing::Refused {
            return;
        }
        if self.has_no_room(forward, peer) {
            return self.lose(to, Some(forward.from), fx);
        }
        self.deliver(forward, to, Urgency::Passing, fx);
    }

    /// Counts a message that a connection does not get because it does not read.
    pub(crate) fn lose(&mut self, to: PeerId, sender: Option<PeerId>, fx: &mut Effects) {
        self.counters.lost += 1;
        let Some(peer) = self.peers.get_mut(to) else { return };
        peer.lost += 1;
        if let Some(losing) = &mut peer.losing {
            losing.missed.another(self.now);
            let cause = losing.limit.as_str();
            self.history.count(Trouble::Lost, cause);
            return;
        }
        let reached = peer.reached();
        peer.losing = Some(Losing { limit: reached.limit, missed: Missed::first(self.now) });
        let cause = reached.limit.as_str();
        self.history.count(Trouble::Lost, cause);
        self.note(Trouble::Lost, cause, to, "it does not read", Some(reached));
        fx.log(Event::LosingSignals { peer: to, sender, reached });
    }

    /// Ends the time in which a connection loses messages, if it does. Returns how many it lost.
    pub(crate) fn stop_losing(&mut self, id: PeerId) -> Option<u64> {
        let peer = self.peers.get_mut(id)?;
        let Losing { mut missed, .. } = peer.losing.take()?;
        let who = Culprit::nameless(peer);
        self.history.add_more(Trouble::Lost, &who, &mut missed);
        Some(missed.messages)
    }
}
