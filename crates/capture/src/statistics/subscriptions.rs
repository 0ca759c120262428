//! Match rules through time.

use std::collections::BTreeMap;

use wire::match_rule::MatchRule;
use wire::message::MessageType;

use super::Unknowable;
use crate::model::{Capture, Message};
use crate::record::{BusId, Fact, Time};

/// The match rules of all connections, as far as a recording has told until now.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// By unique name: who never sends has none that messages know.
    by_peer: BTreeMap<(BusId, String), Subscriber>,
    /// Calls that add or remove a rule and do not show which.
    unread: u64,
}

/// The rules of a connection.
#[derive(Debug, Default)]
pub(super) struct Subscriber {
    /// Rules with how often they are there now.
    pub(super) rules: Vec<(MatchRule, u64)>,
    /// Rules that were added, those of the start among them.
    pub(super) added: u64,
    /// Rules that were removed.
    pub(super) removed: u64,
    /// Rules that the recorder has found: when, and how many of them no call has set since it listens.
    found: Vec<(MatchRule, Time, u64)>,
}

impl Subscriptions {
    /// The rules that the recorder has found at its start.
    pub(super) fn of_start(capture: &Capture) -> Self {
        let mut all = Self::default();
        for (at, bus, fact) in capture.facts() {
            if let Fact::Rule { unique, rule, times } = fact
                && let Ok(rule) = MatchRule::parse(rule)
            {
                let peer = all.peer(*bus, unique);
                peer.add(rule.clone(), *times);
                peer.found.push((rule, *at, *times));
            }
        }
        all
    }

    /// Follows a call of the bus that adds or removes a rule and was not refused.
    pub(super) fn follow(&mut self, message: &Message<'_>, buffer: &mut Vec<u8>) {
        let capture = message.capture();
        if message.kind() != MessageType::MethodCall
            || message.destination_id() != capture.driver()
            || !["AddMatch", "RemoveMatch"].contains(&message.member())
            || message.partner().is_some_and(|reply| reply.kind() == MessageType::Error)
        {
            return;
        }
        let Ok(Some(call)) = capture.read_message(message.id(), buffer) else {
            self.unread += 1;
            return;
        };
        let Ok(rule) = call.read::<(&str,)>() else { return };
        let Ok(rule) = MatchRule::parse(rule.0) else { return };
        let peer = self.peer(message.bus(), message.sender());
        match message.member() {
            "AddMatch" if peer.is_found(&rule, message.at()) => {}
            "AddMatch" => peer.add(rule, 1),
            _ => peer.remove(&rule),
        }
    }

    /// Whether all calls so far have shown their rules.
    pub(super) const fn check(&self) -> Result<(), Unknowable> {
        match self.unread {
            0 => Ok(()),
            calls => Err(Unknowable::RulesUnread { calls }),
        }
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = (BusId, &str, &Subscriber)> {
        self.by_peer.iter().map(|((bus, unique), peer)| (*bus, unique.as_str(), peer))
    }

    fn peer(&mut self, bus: BusId, unique: &str) -> &mut Subscriber {
        self.by_peer.entry((bus, unique.to_owned())).or_default()
    }
}

impl Subscriber {
    fn add(&mut self, rule: MatchRule, times: u64) {
        self.added += times;
        match self.rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, count)) => *count += times,
            None => self.rules.push((rule, times)),
        }
    }

    /// Whether a rule that is set was found by the recorder, which listens before it asks.
    fn is_found(&mut self, rule: &MatchRule, at: Time) -> bool {
        let is_it =
            |found: &&mut (MatchRule, Time, u64)| found.0 == *rule && at < found.1 && found.2 > 0;
        let found = self.found.iter_mut().find(is_it);
        found.map(|(.., left)| *left -= 1).is_some()
    }

    fn remove(&mut self, rule: &MatchRule) {
        let Some(at) = self.rules.iter().position(|(known, _)| known == rule) else { return };
        self.removed += 1;
        self.rules[at].1 -= 1;
        if self.rules[at].1 == 0 {
            self.rules.swap_remove(at);
        }
    }
}
