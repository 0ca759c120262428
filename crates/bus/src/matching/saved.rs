//! Saves and restores the match rules of all connections. A bus may have hundreds of thousands of
//! rules, so each one is encoded from and decoded into its final place, without a list of all.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    MatchIndex, OwnedRule, OwnedRules, PeerRuleCounts, RuleCounts, RuleMatching, RuleSet, SavedRule,
};
use crate::hash::KeyedState;
use crate::saved_state::{Items, SavedStateError};
use crate::types::PeerId;

/// The match rules in the saved state.
#[derive(Serialize)]
struct SavedRules<O, R> {
    hasher: KeyedState,
    counts: RuleCounts,
    /// The number of different keys of the rules for broadcasts.
    keys: usize,
    /// The index of each connection that has rules or had some.
    owners: O,
    /// The rules of each connection in their order.
    rules: R,
}

impl Serialize for RuleMatching {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let owners = self.owned.iter().map(|owned| owned.counts).enumerate();
        let owners: Vec<_> =
            owners.filter(|(_, counts)| *counts != PeerRuleCounts::default()).collect();
        let rules: Vec<_> = self.owned.iter().flat_map(|owned| &owned.rules).collect();
        let rules = Items(rules.iter().map(|rule| (rule.set, self.set(rule.set).save(rule.id))));
        let (hasher, counts, keys) = (self.hasher.clone(), self.counts, self.broadcast.key_count());
        SavedRules { hasher, counts, keys, owners, rules }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RuleMatching {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(FIELDS, RulesVisitor)
    }
}

/// Decodes the fields of [`SavedRules`].
struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = RuleMatching;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the match rules of a bus")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<RuleMatching, A::Error> {
        let missing = |index| A::Error::invalid_length(index, &self);
        let hasher: KeyedState = fields.next_element()?.ok_or_else(|| missing(0))?;
        let counts: RuleCounts = fields.next_element()?.ok_or_else(|| missing(1))?;
        let keys: usize = fields.next_element()?.ok_or_else(|| missing(2))?;
        // A damaged state may have any numbers here.
        let [capacity, keys] = [counts.current, keys].map(|count| count.min(RESERVED_MAX));
        let broadcast = MatchIndex::with_capacity(hasher.clone(), capacity, keys);
        let mut matching = RuleMatching { counts, broadcast, ..RuleMatching::new(hasher) };
        let owners: Vec<_> = fields.next_element()?.ok_or_else(|| missing(3))?;
        for (index, counts) in owners {
            matching.restore_owner(index, counts).map_err(A::Error::custom)?;
        }
        fields.next_element_seed(RulesSeed(&mut matching))?.ok_or_else(|| missing(4))?;
        for set in RuleSet::ALL {
            matching.set_mut(set).order_buckets().map_err(A::Error::custom)?;
        }
        Ok(matching)
    }
}

/// Decodes the rules of [`SavedRules`] and adds each one.
struct RulesSeed<'m>(&'m mut RuleMatching);

impl<'de> DeserializeSeed<'de> for RulesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RulesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rules of all connections")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rules: A) -> Result<(), A::Error> {
        while let Some((set, rule)) = rules.next_element()? {
            self.0.restore_rule(set, rule).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

impl RuleMatching {
    /// Adds a connection without rules.
    fn restore_owner(
        &mut self,
        index: usize,
        counts: PeerRuleCounts,
    ) -> Result<(), SavedStateError> {
        PeerId::new(u32::try_from(index).unwrap_or(u32::MAX), 0).check_index()?;
        if self.owned.len() <= index {
            self.owned.resize_with(index + 1, OwnedRules::default);
        }
        self.owned[index] = OwnedRules { rules: Vec::new(), counts };
        Ok(())
    }

    /// Adds a rule of a connection, after its earlier ones.
    fn restore_rule(&mut self, set: RuleSet, rule: SavedRule<'_>) -> Result<(), SavedStateError> {
        let owner = rule.owner;
        let owned = self.owned.get_mut(owner.index());
        let owned = owned.ok_or(SavedStateError::UnknownConnection(owner))?;
        let place = owned.rules.len();
        let id = self.set_mut(set).restore(rule, place)?;
        self.owned[owner.index()].rules.push(OwnedRule { set, id });
        Ok(())
    }
}

/// The number of fields of [`SavedRules`].
const FIELDS: usize = 5;

/// Maximum number of rules for which memory is allocated before they are decoded.
const RESERVED_MAX: usize = 1 << 20;
