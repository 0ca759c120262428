//! Match rules through time.

use std::collections::BTreeMap;

use wire::match_rule::MatchRule;
use wire::message::MessageType;

use crate::model::{Capture, Message};
use crate::record::{BusId, Fact};

/// The match rules of all connections, as far as a recording has told until now.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// By unique name: who never sends has none that messages know.
    by_peer: BTreeMap<(BusId, String), Subscriber>,
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
    /// The most that it had of one rule.
    pub(super) same_max: u64,
}

impl Subscriptions {
    /// The rules that the recorder has found at its start.
    pub(super) fn of_start(capture: &Capture) -> Self {
        let mut all = Self::default();
        for (_, bus, fact) in capture.facts() {
            if let Fact::Rule { unique, rule } = fact
                && let Ok(rule) = MatchRule::parse(rule)
            {
                all.peer(*bus, unique).add(rule);
            }
        }
        all
    }

    /// Follows a call of the bus that adds or removes a rule and was not refused; whether it did.
    pub(super) fn follow(&mut self, message: &Message<'_>, buffer: &mut Vec<u8>) -> bool {
        let capture = message.capture();
        if message.kind() != MessageType::MethodCall
            || message.destination_id() != capture.driver()
            || !["AddMatch", "RemoveMatch"].contains(&message.member())
            || message.partner().is_some_and(|reply| reply.kind() == MessageType::Error)
        {
            return false;
        }
        let Ok(Some(call)) = capture.read_message(message.id(), buffer) else { return false };
        let Ok(rule) = call.read::<(&str,)>() else { return false };
        let Ok(rule) = MatchRule::parse(rule.0) else { return false };
        let peer = self.peer(message.bus(), message.sender());
        match message.member() {
            "AddMatch" => peer.add(rule),
            _ => peer.remove(&rule),
        }
        true
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = (BusId, &str, &Subscriber)> {
        self.by_peer.iter().map(|((bus, unique), peer)| (*bus, unique.as_str(), peer))
    }

    fn peer(&mut self, bus: BusId, unique: &str) -> &mut Subscriber {
        self.by_peer.entry((bus, unique.to_owned())).or_default()
    }
}

impl Subscriber {
    fn add(&mut self, rule: MatchRule) {
        self.added += 1;
        let same = match self.rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.rules.push((rule, 1));
                1
            }
        };
        self.same_max = self.same_max.max(same);
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
