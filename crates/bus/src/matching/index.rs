//! The index of match rules.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use core::slice;

use hashbrown::{HashMap, HashTable};
use serde::{Deserialize, Serialize};
use slab::Slab;
use wire::match_rule::{
    ArgMatch, MATCH_RULE_LEN_MAX, MatchArgument, MatchRule, MatchSubject, PathMatch,
};

use super::matched_message::MatchedMessage;
use super::recipients::MatchedRecipients;
use crate::hash::{KeyedBuildHasher, KeyedState};
use crate::saved_state::SavedStateError;
use crate::types::PeerId;

/// A match rule that a connection has added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RuleId(usize);

#[derive(Debug)]
struct IndexedRule {
    owner: PeerId,
    rule: MatchRule,
    /// Number of times that it was added.
    count: usize,
    /// Position in the list of its owner's rules.
    place: usize,
    bucket: usize,
    place_in_bucket: usize,
}

/// The result of removing a rule once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removed {
    /// The connection does not have such a rule.
    Nothing,
    /// The connection had added the rule more than once, and still has it.
    Once,
    /// The rule was removed, and its position in the list of its owner's rules is free.
    Last {
        /// The position that is now free.
        place: usize,
    },
}

/// The key that all rules of a bucket share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct BucketKey<'a> {
    kind: BucketKind<'a>,
    member: Option<&'a str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum BucketKind<'a> {
    Arg(u8, &'a str),
    Path(&'a str),
    Arg0Namespace(&'a str),
    PathNamespace(&'a str),
    Sender(&'a str),
    Interface(&'a str),
    Any,
}

impl<'a> BucketKey<'a> {
    /// Returns the key of the bucket for `rule`.
    fn of(rule: &'a MatchRule) -> Self {
        let mut args = rule.args().iter();
        let equal = args.clone().find(|arg| arg.how == ArgMatch::Equal);
        let namespace = args.find(|arg| arg.how == ArgMatch::Namespace);
        let kind = match (equal, rule.path(), namespace) {
            (Some(arg), _, _) => BucketKind::Arg(arg.index, &arg.value),
            (_, Some(PathMatch::Exact(path)), _) => BucketKind::Path(path),
            (_, _, Some(arg)) => BucketKind::Arg0Namespace(&arg.value),
            (_, Some(PathMatch::Namespace(path)), _) if path != "/" => {
                BucketKind::PathNamespace(path)
            }
            _ => match (rule.sender(), rule.interface()) {
                (Some(sender), _) => BucketKind::Sender(sender),
                (None, Some(interface)) => BucketKind::Interface(interface),
                (None, None) => BucketKind::Any,
            },
        };
        BucketKey { kind, member: rule.member() }
    }
}

impl BucketKind<'_> {
    /// The position of this kind in [`MatchIndex::in_use`].
    const fn index(self) -> usize {
        match self {
            Self::Arg(..) => 0,
            Self::Path(_) => 1,
            Self::Arg0Namespace(_) => 2,
            Self::PathNamespace(_) => 3,
            Self::Sender(_) => 4,
            Self::Interface(_) => 5,
            Self::Any => 6,
        }
    }
}

/// The arguments that occur in the keys of the rules for one member.
#[derive(Clone, Copy, Default, Debug)]
struct ArgUse {
    rules: usize,
    /// Bit n for argument n. Bits are cleared only when the last rule is removed.
    equal: u64,
    namespace: bool,
}

impl ArgUse {
    fn note(&mut self, kind: BucketKind<'_>) {
        match kind {
            BucketKind::Arg(index, _) => self.equal |= 1 << index,
            BucketKind::Arg0Namespace(_) => self.namespace = true,
            _ => return,
        }
        self.rules += 1;
    }

    fn forget(&mut self, kind: BucketKind<'_>) {
        if matches!(kind, BucketKind::Arg(..) | BucketKind::Arg0Namespace(_)) {
            self.rules -= 1;
            if self.rules == 0 {
                *self = Self::default();
            }
        }
    }

    /// True if there are rules with a key of this kind.
    const fn has(self, kind: BucketKind<'_>) -> bool {
        match kind {
            BucketKind::Arg(index, _) => self.equal & 1 << index != 0,
            BucketKind::Arg0Namespace(_) => self.namespace,
            _ => false,
        }
    }

    const fn with(self, other: Self) -> Self {
        Self {
            rules: self.rules + other.rules,
            equal: self.equal | other.equal,
            namespace: self.namespace || other.namespace,
        }
    }
}

/// The rules of one key. Most keys have one rule, which needs no memory of its own.
#[derive(Debug)]
enum RuleBucket {
    One(RuleId),
    Many(Vec<RuleId>),
}

impl RuleBucket {
    fn push(&mut self, rule: RuleId) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, rule]),
            Self::Many(rules) => rules.push(rule),
        }
    }

    /// Removes the rule at this position, which the last rule takes. At least two rules are in the
    /// bucket.
    fn swap_remove(&mut self, position: usize) {
        if let Self::Many(rules) = self {
            rules.swap_remove(position);
            if let [last] = rules[..] {
                *self = Self::One(last);
            }
        }
    }
}

impl Deref for RuleBucket {
    type Target = [RuleId];

    fn deref(&self) -> &[RuleId] {
        match self {
            Self::One(rule) => slice::from_ref(rule),
            Self::Many(rules) => rules,
        }
    }
}

impl DerefMut for RuleBucket {
    fn deref_mut(&mut self) -> &mut [RuleId] {
        match self {
            Self::One(rule) => slice::from_mut(rule),
            Self::Many(rules) => rules,
        }
    }
}

/// A rule in the saved state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedRule<'r> {
    pub(crate) owner: PeerId,
    rule: Cow<'r, MatchRule>,
    /// Number of times that it was added.
    count: usize,
    /// Its position among the rules with the same key, which are tested in this order.
    place_in_bucket: usize,
}

/// Match rules by the key of their bucket. The documentation of the module lists the keys.
#[derive(Debug)]
pub(crate) struct MatchIndex {
    rules: Slab<IndexedRule>,
    /// The rules of each key. A bucket is never empty.
    buckets: Slab<RuleBucket>,
    by_key: HashTable<usize>,
    by_rule: HashTable<RuleId>,
    /// For each kind of key, the number of rules without a member and with a member.
    in_use: [[usize; 2]; 7],
    args_of_members: HashMap<Box<str>, ArgUse, KeyedBuildHasher>,
    args_of_any_member: ArgUse,
    hasher: KeyedState,
    /// Incremented by every change, so that cached results can be invalidated.
    generation: u64,
}

impl MatchIndex {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            rules: Slab::new(),
            buckets: Slab::new(),
            by_key: HashTable::new(),
            by_rule: HashTable::new(),
            in_use: [[0; 2]; 7],
            args_of_members: HashMap::with_hasher(hasher.build_hasher()),
            args_of_any_member: ArgUse::default(),
            hasher,
            generation: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The rule as it is saved.
    pub(crate) fn save(&self, id: RuleId) -> SavedRule<'_> {
        let IndexedRule { owner, rule, count, place_in_bucket, .. } = &self.rules[id.0];
        let (owner, count, place_in_bucket) = (*owner, *count, *place_in_bucket);
        SavedRule { owner, rule: Cow::Borrowed(rule), count, place_in_bucket }
    }

    /// The number of different keys of all rules.
    pub(crate) fn key_count(&self) -> usize {
        self.buckets.len()
    }

    /// Creates an index with memory for these numbers of saved rules and keys.
    pub(crate) fn with_capacity(hasher: KeyedState, rules: usize, keys: usize) -> Self {
        Self {
            rules: Slab::with_capacity(rules),
            buckets: Slab::with_capacity(keys),
            by_key: HashTable::with_capacity(keys),
            by_rule: HashTable::with_capacity(rules),
            ..Self::new(hasher)
        }
    }

    /// Adds a saved rule, which will be at position `place` in the list of its owner's rules. Rules
    /// are in no order until all of them are [put in order](Self::order_buckets).
    pub(crate) fn restore(
        &mut self,
        saved: SavedRule<'_>,
        place: usize,
    ) -> Result<RuleId, SavedStateError> {
        let SavedRule { owner, rule, count, place_in_bucket } = saved;
        let id = self.add(owner, rule.into_owned(), place);
        let id = id.ok_or(SavedStateError::Duplicate("match rule"))?;
        let entry = &mut self.rules[id.0];
        (entry.count, entry.place_in_bucket) = (count, place_in_bucket);
        Ok(id)
    }

    /// Brings the restored rules of each bucket into their order, and frees unused memory.
    pub(crate) fn order_buckets(&mut self) -> Result<(), SavedStateError> {
        const FREE: RuleId = RuleId(usize::MAX);
        let Self { rules, buckets, .. } = self;
        for (_, bucket) in &mut *buckets {
            bucket.fill(FREE);
        }
        for (id, rule) in rules {
            let place = buckets[rule.bucket].get_mut(rule.place_in_bucket);
            let place = place.filter(|place| **place == FREE);
            *place.ok_or(SavedStateError::Duplicate("place of a match rule"))? = RuleId(id);
        }
        self.shrink();
        Ok(())
    }

    /// The number of times that `id` was added, and its rule.
    pub(crate) fn get(&self, id: RuleId) -> (usize, &MatchRule) {
        let entry = &self.rules[id.0];
        (entry.count, &entry.rule)
    }

    /// Adds a rule, which will be at position `place` in the list of its owner's rules. Returns its
    /// id if the connection did not have this rule yet.
    pub(crate) fn add(&mut self, owner: PeerId, rule: MatchRule, place: usize) -> Option<RuleId> {
        let hash = self.hasher.hash(&(owner, &rule));
        if let Some(id) = self.find_hashed(hash, owner, &rule) {
            self.rules[id.0].count += 1;
            return None;
        }
        self.generation += 1;
        let entry = IndexedRule { owner, rule, count: 1, place, bucket: 0, place_in_bucket: 0 };
        let id = RuleId(self.rules.insert(entry));
        let (rules, hasher) = (&self.rules, &self.hasher);
        let rehash = |id: &RuleId| hasher.hash(&(rules[id.0].owner, &rules[id.0].rule));
        self.by_rule.insert_unique(hash, id, rehash);
        self.insert_in_bucket(id);
        Some(id)
    }

    /// Stores the new position of a rule in the list of its owner's rules.
    pub(crate) fn set_place(&mut self, id: RuleId, place: usize) {
        self.rules[id.0].place = place;
    }

    /// Removes a rule once.
    pub(crate) fn remove(&mut self, owner: PeerId, rule: &MatchRule) -> Removed {
        let Some(id) = self.find(owner, rule) else { return Removed::Nothing };
        let IndexedRule { count, place, .. } = &mut self.rules[id.0];
        *count -= 1;
        if *count > 0 {
            return Removed::Once;
        }
        let place = *place;
        self.delete(id);
        Removed::Last { place }
    }

    /// Removes a rule, no matter how often it was added.
    pub(crate) fn delete(&mut self, id: RuleId) {
        self.generation += 1;
        let rule = &self.rules[id.0];
        let hash = self.hasher.hash(&(rule.owner, &rule.rule));
        if let Ok(entry) = self.by_rule.find_entry(hash, |other| *other == id) {
            entry.remove();
        }
        self.remove_from_bucket(id);
        self.rules.remove(id.0);
        self.give_back();
    }

    /// Frees memory if few of many rules are left. The check runs whenever half of them are gone,
    /// so that its cost per removal is small.
    fn give_back(&mut self) {
        let len = self.rules.len();
        let few = len == 0 || len.is_power_of_two();
        if !few || self.rules.capacity() / 8 < len.max(FEW_RULES) {
            return;
        }
        self.shrink();
    }

    fn shrink(&mut self) {
        // Slots in use keep their index, so the slots before them are kept, too.
        self.rules.shrink_to_fit();
        self.buckets.shrink_to_fit();
        let (rules, buckets, hasher) = (&self.rules, &self.buckets, &self.hasher);
        let rehash = |b: &usize| hasher.hash(&BucketKey::of(&rules[buckets[*b][0].0].rule));
        self.by_key.shrink_to_fit(rehash);
        let rehash = |id: &RuleId| hasher.hash(&(rules[id.0].owner, &rules[id.0].rule));
        self.by_rule.shrink_to_fit(rehash);
        self.args_of_members.shrink_to_fit();
    }

    /// Checks that every rule is in its bucket, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self) {
        assert_eq!(self.rules.len(), self.by_rule.len(), "rules and their index");
        assert_eq!(self.buckets.len(), self.by_key.len(), "buckets and their index");
        let mut in_use = [[0; 2]; 7];
        // Rules without a member, and rules with a member.
        let mut asking = [0; 2];
        for (id, rule) in &self.rules {
            let bucket = &self.buckets[rule.bucket];
            assert_eq!(bucket.get(rule.place_in_bucket), Some(&RuleId(id)), "{:?}", rule.rule);
            assert!(rule.count > 0, "{:?} was added", rule.rule);
            let key = BucketKey::of(&rule.rule);
            assert_eq!(self.bucket(&key), Some(rule.bucket), "{:?}", rule.rule);
            in_use[key.kind.index()][usize::from(key.member.is_some())] += 1;
            assert_eq!(self.find(rule.owner, &rule.rule), Some(RuleId(id)), "{:?}", rule.rule);
            if matches!(key.kind, BucketKind::Arg(..) | BucketKind::Arg0Namespace(_)) {
                let args = match key.member {
                    None => Some(&self.args_of_any_member),
                    Some(member) => self.args_of_members.get(member),
                };
                assert!(args.is_some_and(|args| args.has(key.kind)), "{:?}", rule.rule);
                asking[usize::from(key.member.is_some())] += 1;
            }
        }
        let of_members = self.args_of_members.values().map(|args| args.rules).sum();
        let counted = [self.args_of_any_member.rules, of_members];
        assert_eq!(counted, asking, "rules that ask for arguments");
        assert_eq!(self.in_use, in_use, "rules by kind of bucket");
        let in_buckets: usize = self.buckets.iter().map(|(_, bucket)| bucket.len()).sum();
        assert_eq!(in_buckets, self.rules.len(), "rules in buckets");
    }

    /// The position of a rule in the list of its owner's rules.
    pub(super) fn place(&self, id: RuleId) -> usize {
        self.rules[id.0].place
    }

    /// The connection that added a rule.
    pub(crate) fn owner(&self, id: RuleId) -> PeerId {
        self.rules[id.0].owner
    }

    /// Number of distinct rules in the index.
    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Adds every connection with a matching rule to `found`, once.
    pub(crate) fn find_all(&self, subject: &MatchedMessage<'_>, found: &mut MatchedRecipients) {
        self.find_without_args(subject, found);
        self.find_by_args(subject, found);
    }

    /// Like [`find_all`](Self::find_all), but skips rules whose key is an argument. Reports whether
    /// the result depends on the arguments nevertheless.
    pub(crate) fn find_without_args(
        &self,
        subject: &MatchedMessage<'_>,
        found: &mut MatchedRecipients,
    ) -> ArgsRead {
        let mut search = Search { index: self, subject, found, args: ArgsRead::No };
        if let Some(path) = subject.path() {
            search.probe(BucketKind::Path(path));
            if self.uses(BucketKind::PathNamespace("")) {
                for namespace in prefixes(path, b'/') {
                    search.probe(BucketKind::PathNamespace(namespace));
                }
            }
        }
        if self.uses(BucketKind::Sender("")) {
            for name in subject.sender_names() {
                search.probe(BucketKind::Sender(name));
            }
        }
        if let Some(interface) = subject.interface() {
            search.probe(BucketKind::Interface(interface));
        }
        search.probe(BucketKind::Any);
        search.args
    }

    /// Looks up the rules whose key is an argument.
    pub(crate) fn find_by_args(&self, subject: &MatchedMessage<'_>, found: &mut MatchedRecipients) {
        let wanted = self.args_wanted(subject);
        if wanted.rules == 0 {
            return;
        }
        let mut search = Search { index: self, subject, found, args: ArgsRead::No };
        for index in bits(wanted.equal) {
            if let Some(MatchArgument::String(text)) = subject.arg(index) {
                search.probe(BucketKind::Arg(index, text));
            }
        }
        if wanted.namespace
            && let Some(MatchArgument::String(text)) = subject.arg(0)
        {
            for namespace in prefixes(text, b'.') {
                search.probe(BucketKind::Arg0Namespace(namespace));
            }
        }
    }

    fn args_wanted(&self, subject: &MatchedMessage<'_>) -> ArgUse {
        let of_member = subject.member().and_then(|member| self.args_of_members.get(member));
        self.args_of_any_member.with(of_member.copied().unwrap_or_default())
    }

    fn uses(&self, kind: BucketKind<'_>) -> bool {
        self.in_use[kind.index()] != [0; 2]
    }

    fn find(&self, owner: PeerId, rule: &MatchRule) -> Option<RuleId> {
        self.find_hashed(self.hasher.hash(&(owner, rule)), owner, rule)
    }

    fn find_hashed(&self, hash: u64, owner: PeerId, rule: &MatchRule) -> Option<RuleId> {
        let same = |id: &RuleId| {
            let entry = &self.rules[id.0];
            entry.owner == owner && entry.rule == *rule
        };
        self.by_rule.find(hash, same).copied()
    }

    fn bucket(&self, key: &BucketKey<'_>) -> Option<usize> {
        self.bucket_hashed(self.hasher.hash(key), key)
    }

    fn bucket_hashed(&self, hash: u64, key: &BucketKey<'_>) -> Option<usize> {
        let same =
            |bucket: &usize| BucketKey::of(&self.rules[self.buckets[*bucket][0].0].rule) == *key;
        self.by_key.find(hash, same).copied()
    }

    fn insert_in_bucket(&mut self, id: RuleId) {
        let key = BucketKey::of(&self.rules[id.0].rule);
        let hash = self.hasher.hash(&key);
        self.in_use[key.kind.index()][usize::from(key.member.is_some())] += 1;
        match key.member {
            None => self.args_of_any_member.note(key.kind),
            Some(member)
                if matches!(key.kind, BucketKind::Arg(..) | BucketKind::Arg0Namespace(_)) =>
            {
                self.args_of_members.entry(member.into()).or_default().note(key.kind);
            }
            Some(_) => {}
        }
        let found = self.bucket_hashed(hash, &key);
        let entry = &mut self.rules[id.0];
        match found {
            Some(bucket) => {
                (entry.bucket, entry.place_in_bucket) = (bucket, self.buckets[bucket].len());
                self.buckets[bucket].push(id);
            }
            None => {
                let bucket = self.buckets.insert(RuleBucket::One(id));
                (entry.bucket, entry.place_in_bucket) = (bucket, 0);
                let (rules, buckets, hasher) = (&self.rules, &self.buckets, &self.hasher);
                let rehash = |b: &usize| hasher.hash(&BucketKey::of(&rules[buckets[*b][0].0].rule));
                self.by_key.insert_unique(hash, bucket, rehash);
            }
        }
    }

    fn remove_from_bucket(&mut self, id: RuleId) {
        let IndexedRule { bucket, place_in_bucket: place, .. } = self.rules[id.0];
        let key = BucketKey::of(&self.rules[id.0].rule);
        self.in_use[key.kind.index()][usize::from(key.member.is_some())] -= 1;
        match key.member {
            None => self.args_of_any_member.forget(key.kind),
            Some(member) => {
                if let Some(args) = self.args_of_members.get_mut(member) {
                    args.forget(key.kind);
                    if args.rules == 0 {
                        self.args_of_members.remove(member);
                    }
                }
            }
        }
        let hash = self.hasher.hash(&key);
        if self.buckets[bucket].len() == 1 {
            if let Ok(entry) = self.by_key.find_entry(hash, |other| *other == bucket) {
                entry.remove();
            }
            self.buckets.remove(bucket);
            return;
        }
        self.buckets[bucket].swap_remove(place);
        if let Some(moved) = self.buckets[bucket].get(place) {
            self.rules[moved.0].place_in_bucket = place;
        }
    }
}

/// Whether the arguments of a message influenced its recipients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArgsRead {
    No,
    Yes,
}

/// A search of the index for one message.
struct Search<'s, 'm> {
    index: &'s MatchIndex,
    subject: &'s MatchedMessage<'m>,
    found: &'s mut MatchedRecipients,
    args: ArgsRead,
}

impl Search<'_, '_> {
    /// Searches the buckets of `kind` with the member of the message and without a member.
    fn probe(&mut self, kind: BucketKind<'_>) {
        let [without, with] = self.index.in_use[kind.index()];
        if without > 0 {
            self.probe_bucket(&BucketKey { kind, member: None });
        }
        if with > 0
            && let Some(member) = self.subject.member()
        {
            self.probe_bucket(&BucketKey { kind, member: Some(member) });
        }
    }

    fn probe_bucket(&mut self, key: &BucketKey<'_>) {
        let Some(bucket) = self.index.bucket(key) else { return };
        for id in self.index.buckets[bucket].iter() {
            let IndexedRule { owner, rule, .. } = &self.index.rules[id.0];
            if !rule.args().is_empty() {
                self.args = ArgsRead::Yes;
            }
            if !self.found.contains(*owner) && rule.matches(self.subject) {
                self.found.add(*owner);
            }
        }
    }
}

/// Number of removed rules whose memory may be kept.
const FEW_RULES: usize = 128;

/// The indices of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let place = (set != 0).then_some(set.trailing_zeros() as u8)?;
        set &= set - 1;
        Some(place)
    })
}

/// `text` and its prefixes at each `separator`, without the root path. Prefixes that are too long
/// for a rule are left out, so that the time for long texts is bounded.
fn prefixes(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let above = move |name: &str| {
        let name = &name.as_bytes()[..name.len().min(MATCH_RULE_LEN_MAX + 1)];
        name.iter().rposition(|&byte| byte == separator).filter(|&end| end > 0)
    };
    let mut rest = if text.len() > MATCH_RULE_LEN_MAX {
        above(text).map(|end| &text[..end])
    } else {
        (!text.is_empty() && text != "/").then_some(text)
    };
    core::iter::from_fn(move || {
        let prefix = rest?;
        rest = above(prefix).map(|end| &prefix[..end]);
        Some(prefix)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    #[test]
    fn path_prefixes_exclude_the_root() {
        let all = |text, separator| prefixes(text, separator).collect::<Vec<_>>();
        assert_eq!(all("/a/b/c", b'/'), ["/a/b/c", "/a/b", "/a"]);
        assert_eq!(all("org.x.Y", b'.'), ["org.x.Y", "org.x", "org"]);
        assert_eq!(all("/", b'/'), [""; 0]);
        assert_eq!(all("x", b'.'), ["x"]);
    }

    fn parsed(text: &str) -> MatchRule {
        MatchRule::parse(text).expect("a rule")
    }

    /// Rules of two connections, one with an argument of a member.
    fn index() -> MatchIndex {
        let mut index = MatchIndex::new(KeyedState::new(0.into()));
        let (a, b) = (PeerId::new(0, 0), PeerId::new(1, 0));
        for (owner, rule, place) in [
            (a, "interface='a.b'", 0),
            (b, "interface='a.b'", 0),
            (a, "member='M',arg0='x'", 1),
            (a, "arg0namespace='a.b'", 2),
        ] {
            index.add(owner, parsed(rule), place).expect("it is new");
        }
        index
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            index,
            MatchIndex::check,
            &[
                ("rules that are not found", |index| index.by_rule.clear()),
                ("a rule of another owner", |index| index.rules[0].owner = PeerId::new(9, 0)),
                ("buckets that are not found", |index| index.by_key.clear()),
                ("a rule in no bucket", |index| index.rules[1].place_in_bucket = 7),
                ("a rule in another bucket", |index| index.rules[2].bucket = 0),
                ("a rule with another key", |index| {
                    index.rules[0].rule = parsed("interface='a.c'")
                }),
                ("a rule that was never added", |index| index.rules[0].count = 0),
                ("rules by kind of bucket", |index| index.in_use[5][0] += 1),
                ("a rule twice in its bucket", |index| index.buckets[0].push(RuleId(0))),
                ("rules of a member that ask for arguments", |index| index.args_of_members.clear()),
                ("arguments that the rules of a member ask for", |index| {
                    let args = index.args_of_members.get_mut("M").expect("a rule asks for it");
                    args.equal = 0;
                }),
                ("rules of any member that ask for arguments", |index| {
                    index.args_of_any_member.rules += 1;
                }),
                ("rules that ask for a namespace", |index| {
                    index.args_of_any_member.namespace = false
                }),
            ],
        );
    }
}
