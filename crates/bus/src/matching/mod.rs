//! Match rules of all connections, indexed by the most selective condition of each rule.
//!
//! A rule is in exactly one bucket:
//!
//! | most selective condition | bucket |
//! | --- | --- |
//! | an argument equal to a text | (index, text, member) |
//! | a path | (path, member) |
//! | the namespace of argument 0 | (namespace, member) |
//! | the namespace of a path | (namespace, member) |
//! | a sender | (sender, member) |
//! | an interface | (interface, member) |
//! | none of these | (member) |
//!
//! The member is part of the key if the rule has one. For each message the bus searches the buckets
//! that could hold a matching rule, which takes a few hash lookups, and compares only the rules in
//! them. The number of other rules does not matter. The arguments of a message are decoded only if
//! a rule for its member tests one.

mod args;
mod index;
mod matched_message;
mod recipients;
mod route_cache;
mod saved;

use alloc::vec::Vec;
use core::mem;

use serde::{Deserialize, Serialize};
use wire::Message;
use wire::match_rule::MatchRule;

pub(crate) use index::{MatchIndex, RuleId, SavedRule};
pub(crate) use matched_message::MatchedMessage;
pub(crate) use recipients::MatchedRecipients;

use index::{ArgsRead, Removed};
use route_cache::RouteCache;

use crate::hash::KeyedState;
use crate::registry::Registry;
use crate::types::PeerId;

/// The match rules of all connections, and the result of the last search.
#[derive(Debug)]
pub struct RuleMatching {
    hasher: KeyedState,
    broadcast: MatchIndex,
    eavesdropping: MatchIndex,
    monitoring: MatchIndex,
    /// The rules of each connection, by its index.
    owned: Vec<OwnedRules>,
    counts: RuleCounts,
    routes: RouteCache,
    /// The result of the last search. [`Self::take_recipients`] lends it to the caller.
    recipients: MatchedRecipients,
}

/// The three kinds of match rules. Each kind has its own index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum RuleSet {
    /// Rules for signals without a destination.
    Broadcast,
    /// Rules with `eavesdrop=true`, which match messages to other connections, too.
    Eavesdropping,
    /// Rules of monitors, given to BecomeMonitor.
    Monitoring,
}

impl RuleSet {
    const ALL: [Self; 3] = [Self::Broadcast, Self::Eavesdropping, Self::Monitoring];

    /// The set for a rule of AddMatch.
    fn of(rule: &MatchRule) -> Self {
        if rule.eavesdrops() { Self::Eavesdropping } else { Self::Broadcast }
    }
}

/// The rules of one connection.
#[derive(Debug, Default)]
struct OwnedRules {
    /// Distinct rules, in arbitrary order. Each rule stores its position in this list.
    rules: Vec<OwnedRule>,
    counts: PeerRuleCounts,
}

/// One of the rules of a connection.
#[derive(Clone, Copy, Debug)]
struct OwnedRule {
    set: RuleSet,
    id: RuleId,
}

/// Numbers of rules that connections have added. A rule that was added twice counts twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RuleCounts {
    /// Number of rules at present.
    pub(crate) current: usize,
    /// Most rules at the same time.
    pub(crate) peak: usize,
    /// Most rules of one connection.
    pub(crate) peak_of_peer: usize,
}

/// Numbers of rules that one connection has added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PeerRuleCounts {
    /// Number of its rules at present.
    pub(crate) current: usize,
    /// Most rules that it had at the same time.
    pub(crate) peak: usize,
}

/// The error for a rule that the connection does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RuleNotFound;

impl RuleMatching {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            broadcast: MatchIndex::new(hasher.clone()),
            eavesdropping: MatchIndex::new(hasher.clone()),
            monitoring: MatchIndex::new(hasher.clone()),
            owned: Vec::new(),
            counts: RuleCounts::default(),
            routes: RouteCache::new(hasher.clone()),
            recipients: MatchedRecipients::default(),
            hasher,
        }
    }
}

/// Adding and removing of rules.
impl RuleMatching {
    /// Adds a rule of a connection that is not a monitor.
    pub(crate) fn add(&mut self, owner: PeerId, rule: MatchRule) {
        self.add_to(RuleSet::of(&rule), owner, rule);
    }

    /// Adds a rule of a monitor.
    pub(crate) fn add_for_monitor(&mut self, owner: PeerId, rule: MatchRule) {
        self.add_to(RuleSet::Monitoring, owner, rule);
    }

    fn add_to(&mut self, set: RuleSet, owner: PeerId, rule: MatchRule) {
        if self.owned.len() <= owner.index() {
            self.owned.resize_with(owner.index() + 1, OwnedRules::default);
        }
        let place = self.owned[owner.index()].rules.len();
        let added = self.set_mut(set).add(owner, rule, place);
        let OwnedRules { rules, counts } = &mut self.owned[owner.index()];
        rules.extend(added.map(|id| OwnedRule { set, id }));
        counts.current += 1;
        counts.peak = counts.peak.max(counts.current);
        self.counts.current += 1;
        self.counts.peak = self.counts.peak.max(self.counts.current);
        self.counts.peak_of_peer = self.counts.peak_of_peer.max(counts.current);
    }

    /// Removes a rule once.
    pub(crate) fn remove(&mut self, owner: PeerId, rule: &MatchRule) -> Result<(), RuleNotFound> {
        match self.set_mut(RuleSet::of(rule)).remove(owner, rule) {
            Removed::Nothing => return Err(RuleNotFound),
            Removed::Once => {}
            Removed::Last { place } => self.remove_owned(owner, place),
        }
        self.owned[owner.index()].counts.current -= 1;
        self.counts.current -= 1;
        Ok(())
    }

    /// Removes a rule from the list of its owner. The last rule of the list takes its position.
    fn remove_owned(&mut self, owner: PeerId, place: usize) {
        let rules = &mut self.owned[owner.index()].rules;
        rules.swap_remove(place);
        if let Some(&OwnedRule { set, id }) = rules.get(place) {
            self.set_mut(set).set_place(id, place);
        }
    }

    /// Removes all rules of a connection.
    pub(crate) fn remove_all(&mut self, owner: PeerId) {
        let Some(owned) = self.owned.get_mut(owner.index()) else { return };
        let rules = mem::take(&mut owned.rules);
        self.counts.current -= mem::take(&mut owned.counts.current);
        for OwnedRule { set, id } in rules {
            self.set_mut(set).delete(id);
        }
    }

    /// Removes all data about a connection that has ended.
    pub(crate) fn forget(&mut self, owner: PeerId) {
        self.remove_all(owner);
        if let Some(owned) = self.owned.get_mut(owner.index()) {
            *owned = OwnedRules::default();
        }
    }

    /// The numbers of rules of a connection.
    pub(crate) fn counts_of(&self, owner: PeerId) -> PeerRuleCounts {
        self.owned.get(owner.index()).map_or_else(PeerRuleCounts::default, |owned| owned.counts)
    }

    /// The distinct rules of a connection, each with the number of times it was added.
    pub(crate) fn rules_of(&self, owner: PeerId) -> impl Iterator<Item = (usize, &MatchRule)> {
        let owned = self.owned.get(owner.index()).into_iter().flat_map(|owned| &owned.rules);
        owned.map(|rule| self.set(rule.set).get(rule.id))
    }

    pub(crate) const fn counts(&self) -> RuleCounts {
        self.counts
    }

    /// True if there is a monitor.
    #[inline]
    pub(crate) fn has_monitors(&self) -> bool {
        !self.monitoring.is_empty()
    }

    /// True if a rule matches messages to other connections.
    #[inline]
    pub(crate) fn has_eavesdroppers(&self) -> bool {
        !self.eavesdropping.is_empty()
    }

    const fn set(&self, set: RuleSet) -> &MatchIndex {
        match set {
            RuleSet::Broadcast => &self.broadcast,
            RuleSet::Eavesdropping => &self.eavesdropping,
            RuleSet::Monitoring => &self.monitoring,
        }
    }

    const fn set_mut(&mut self, set: RuleSet) -> &mut MatchIndex {
        match set {
            RuleSet::Broadcast => &mut self.broadcast,
            RuleSet::Eavesdropping => &mut self.eavesdropping,
            RuleSet::Monitoring => &mut self.monitoring,
        }
    }
}

/// Searches. Each stores its result for [`Self::take_recipients`].
impl RuleMatching {
    /// Finds the subscribers of a signal without a destination.
    #[inline]
    pub(crate) fn find_subscribers(
        &mut self,
        registry: &Registry,
        message: &Message<'_>,
        sender: Option<PeerId>,
    ) {
        let generation = self.broadcast.generation()
            + self.eavesdropping.generation()
            + registry.owner_generation();
        let Self { broadcast, eavesdropping, routes, recipients, .. } = self;
        let subject = MatchedMessage::new(message, sender, None, registry);
        recipients.clear();
        if let Some(route) = routes.get(&subject, generation) {
            route.recipients.iter().for_each(|&peer| recipients.add(peer));
        } else {
            let plain = broadcast.find_without_args(&subject, recipients);
            let eavesdroppers = eavesdropping.find_without_args(&subject, recipients);
            if plain == ArgsRead::No && eavesdroppers == ArgsRead::No {
                routes.put(&subject, generation, recipients.list());
            }
        }
        broadcast.find_by_args(&subject, recipients);
        eavesdropping.find_by_args(&subject, recipients);
    }

    /// Finds the monitors with a rule that matches a message.
    pub(crate) fn find_monitors(
        &mut self,
        registry: &Registry,
        message: &Message<'_>,
        sender: Option<PeerId>,
        addressed: Option<PeerId>,
    ) {
        let subject = MatchedMessage::new(message, sender, addressed, registry);
        self.recipients.clear();
        self.monitoring.find_all(&subject, &mut self.recipients);
    }

    /// Finds the connections that eavesdrop on a message to another connection.
    pub(crate) fn find_eavesdroppers(
        &mut self,
        registry: &Registry,
        message: &Message<'_>,
        sender: PeerId,
        addressed: Option<PeerId>,
    ) {
        let subject = MatchedMessage::new(message, Some(sender), addressed, registry);
        self.recipients.clear();
        self.eavesdropping.find_all(&subject, &mut self.recipients);
    }

    /// Takes the result of the last search. [`Self::return_recipients`] returns its memory.
    #[inline]
    pub(crate) fn take_recipients(&mut self) -> MatchedRecipients {
        mem::take(&mut self.recipients)
    }

    /// Returns the memory that [`Self::take_recipients`] lent.
    #[inline]
    pub(crate) fn return_recipients(&mut self, recipients: MatchedRecipients) {
        self.recipients = recipients;
    }
}

impl RuleMatching {
    /// Checks that every rule is in the list of a live owner, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, registry: &Registry) {
        let mut current = 0;
        let mut distinct = [0; 3];
        for (index, owned) in self.owned.iter().enumerate() {
            let mut of_peer = 0;
            for (place, OwnedRule { set, id }) in owned.rules.iter().enumerate() {
                assert_eq!(self.set(*set).place(*id), place, "the place of a rule");
                let owner = self.set(*set).owner(*id);
                assert_eq!(owner.index(), index, "the owner of a rule");
                let peer = registry.get(owner);
                let is_right = peer.is_some_and(|peer| match set {
                    RuleSet::Broadcast | RuleSet::Eavesdropping => peer.is_active(),
                    RuleSet::Monitoring => peer.is_monitor(),
                });
                assert!(is_right, "{owner} has a rule of the set {set:?}");
                of_peer += self.set(*set).get(*id).0;
                distinct[*set as usize] += 1;
            }
            assert_eq!(owned.counts.current, of_peer, "rules of the connection {index}");
            assert!(owned.counts.peak >= of_peer, "peak of the connection {index}");
            current += of_peer;
        }
        assert_eq!(self.counts.current, current, "rules of all connections");
        for set in [RuleSet::Broadcast, RuleSet::Eavesdropping, RuleSet::Monitoring] {
            assert_eq!(self.set(set).len(), distinct[set as usize], "{set:?}");
            self.set(set).check();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    use crate::policy::ClientPolicies;
    use crate::types::{Configuration, ConnectionCredentials, DescriptorPassing, Time};

    const OWNER: PeerId = PeerId::new(0, 0);

    fn registry() -> Registry {
        let mut registry = Registry::new(KeyedState::new(0.into()));
        let config = Configuration::default();
        let policy = ClientPolicies::default().of(&config.policy, Some(7), None);
        registry.connect(OWNER, ConnectionCredentials::default(), &config.limits, Time::default());
        registry.authenticate(OWNER, Some(7), DescriptorPassing::Refused, &config);
        registry.register(OWNER, policy);
        registry
    }

    /// Three rules, one of which was added twice.
    fn matching() -> RuleMatching {
        let mut matching = RuleMatching::new(KeyedState::new(0.into()));
        for text in ["member='A'", "member='A'", "member='B'", "eavesdrop='true'"] {
            matching.add(OWNER, MatchRule::parse(text).expect("a rule"));
        }
        matching
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let registry = registry();
        each_is_reported(
            matching,
            |matching| matching.check(&registry),
            &[
                ("the number of all rules", |matching| matching.counts.current += 1),
                ("the number of a connection's rules", |matching| {
                    matching.owned[0].counts.current -= 1;
                }),
                ("the peak of a connection", |matching| matching.owned[0].counts.peak = 0),
                ("a rule that is not in the list of its owner", |matching| {
                    matching.owned[0].rules.pop();
                }),
                ("rules in the wrong places", |matching| matching.owned[0].rules.swap(0, 1)),
                ("a list of another owner", |matching| {
                    matching.owned.insert(0, OwnedRules::default());
                }),
                ("a rule of a connection that is gone", |matching| {
                    matching.add(PeerId::new(1, 0), MatchRule::parse("").expect("a rule"));
                }),
                ("a rule of a monitor of a connection that is none", |matching| {
                    matching.add_for_monitor(OWNER, MatchRule::parse("").expect("a rule"));
                }),
                ("a corrupt index", |matching| {
                    let id = matching.owned[0].rules[1].id;
                    matching.broadcast.delete(id);
                    let rule = MatchRule::parse("member='B'").expect("a rule");
                    matching.broadcast.add(OWNER, rule, 9);
                }),
            ],
        );
    }
}
