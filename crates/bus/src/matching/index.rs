//! The index of rules.

use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashTable};
use slab::Slab;
use wire::match_rule::{
    ArgMatch, MATCH_RULE_LEN_MAX, MatchArgument, MatchRule, MatchSubject, PathMatch,
};

use super::matched_message::MatchedMessage;
use super::recipients::MatchedRecipients;
use crate::hash::{KeyedBuildHasher, KeyedState};
use crate::types::PeerId;

/// A rule that a connection has added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RuleId(usize);

#[derive(Debug)]
struct IndexedRule {
    owner: PeerId,
    rule: MatchRule,
    /// How often it was added.
    count: usize,
    /// Where in the list of its owner's rules.
    place: usize,
    bucket: usize,
    place_in_bucket: usize,
}

/// What came of removing a rule once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removed {
    /// The connection has no such rule.
    Nothing,
    /// It had added the rule more than once, and still has it.
    Once,
    /// The rule is gone from the place that it had in the list of its owner's rules.
    Last {
        /// That place.
        place: usize,
    },
}

/// What the rules of a bucket have in common.
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
    /// The key under which `rule` is found.
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
    /// The place of this kind in [`MatchIndex::in_use`].
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

/// Which arguments the rules for one member ask for in their keys.
#[derive(Clone, Copy, Default, Debug)]
struct ArgUse {
    rules: usize,
    /// Bit n for argument n. Bits are cleared only when no rule is left.
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

    /// Whether rules with a key of this kind are found.
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

/// Rules by what they ask for. See the module's documentation.
#[derive(Debug)]
pub(crate) struct MatchIndex {
    rules: Slab<IndexedRule>,
    /// Each holds rules of one key, and is never empty.
    buckets: Slab<Vec<RuleId>>,
    by_key: HashTable<usize>,
    by_rule: HashTable<RuleId>,
    /// For each kind of key, how many rules have it: without a member, with one.
    in_use: [[usize; 2]; 7],
    args_of_members: HashMap<Box<str>, ArgUse, KeyedBuildHasher>,
    args_of_any_member: ArgUse,
    hasher: KeyedState,
    /// Counted up by every change, for those who keep results.
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

    /// How often `id` was added, and its rule.
    pub(crate) fn get(&self, id: RuleId) -> (usize, &MatchRule) {
        let entry = &self.rules[id.0];
        (entry.count, &entry.rule)
    }

    /// Adds a rule, which shall have `place` in the list of its owner's rules. Returns its id if
    /// the connection had no such rule before.
    pub(crate) fn add(&mut self, owner: PeerId, rule: MatchRule, place: usize) -> Option<RuleId> {
        if let Some(id) = self.find(owner, &rule) {
            self.rules[id.0].count += 1;
            return None;
        }
        self.generation += 1;
        let hash = self.hasher.hash(&(owner, &rule));
        let entry = IndexedRule { owner, rule, count: 1, place, bucket: 0, place_in_bucket: 0 };
        let id = RuleId(self.rules.insert(entry));
        let (rules, hasher) = (&self.rules, &self.hasher);
        let rehash = |id: &RuleId| hasher.hash(&(rules[id.0].owner, &rules[id.0].rule));
        self.by_rule.insert_unique(hash, id, rehash);
        self.insert_in_bucket(id);
        Some(id)
    }

    /// Takes note that a rule has another place in the list of its owner's rules.
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

    /// Removes a rule, however often it was added.
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

    /// Gives memory back where few rules are left of many. It is looked at whenever half of them
    /// have gone, so that this costs each removal little.
    fn give_back(&mut self) {
        let len = self.rules.len();
        let few = len == 0 || len.is_power_of_two();
        if !few || self.rules.capacity() / 8 < len.max(FEW_RULES) {
            return;
        }
        // Places that are in use stay where they are, and keep those before them.
        self.rules.shrink_to_fit();
        self.buckets.shrink_to_fit();
        let (rules, buckets, hasher) = (&self.rules, &self.buckets, &self.hasher);
        let rehash = |b: &usize| hasher.hash(&BucketKey::of(&rules[buckets[*b][0].0].rule));
        self.by_key.shrink_to_fit(rehash);
        let rehash = |id: &RuleId| hasher.hash(&(rules[id.0].owner, &rules[id.0].rule));
        self.by_rule.shrink_to_fit(rehash);
        self.args_of_members.shrink_to_fit();
    }

    /// Checks that every rule is in its bucket, and that all counts are right.
    ///
    /// # Panics
    ///
    /// If not.
    pub(crate) fn check(&self) {
        assert_eq!(self.rules.len(), self.by_rule.len(), "rules and their index");
        assert_eq!(self.buckets.len(), self.by_key.len(), "buckets and their index");
        let mut in_use = [[0; 2]; 7];
        // Without a member, with one.
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

    /// The place of a rule in the list of its owner's rules.
    pub(super) fn place(&self, id: RuleId) -> usize {
        self.rules[id.0].place
    }

    /// The connection that added a rule.
    pub(crate) fn owner(&self, id: RuleId) -> PeerId {
        self.rules[id.0].owner
    }

    /// How many distinct rules there are.
    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Adds to `found` every connection that has a rule which matches, once.
    pub(crate) fn find_all(&self, subject: &MatchedMessage<'_>, found: &mut MatchedRecipients) {
        self.find_without_args(subject, found);
        self.find_by_args(subject, found);
    }

    /// As [`find_all`](Self::find_all), but leaves out rules that are found by an argument.
    /// Says whether what was found depends on the arguments nevertheless.
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

    /// Looks up the rules that are found by an argument.
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
        let same = |id: &RuleId| {
            let entry = &self.rules[id.0];
            entry.owner == owner && entry.rule == *rule
        };
        self.by_rule.find(self.hasher.hash(&(owner, rule)), same).copied()
    }

    fn bucket(&self, key: &BucketKey<'_>) -> Option<usize> {
        let same =
            |bucket: &usize| BucketKey::of(&self.rules[self.buckets[*bucket][0].0].rule) == *key;
        self.by_key.find(self.hasher.hash(key), same).copied()
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
        let bucket = match self.bucket(&key) {
            Some(bucket) => bucket,
            None => {
                let bucket = self.buckets.insert(Vec::with_capacity(1));
                let (rules, buckets, hasher) = (&self.rules, &self.buckets, &self.hasher);
                let rehash = |b: &usize| hasher.hash(&BucketKey::of(&rules[buckets[*b][0].0].rule));
                self.by_key.insert_unique(hash, bucket, rehash);
                bucket
            }
        };
        let entry = &mut self.rules[id.0];
        entry.bucket = bucket;
        entry.place_in_bucket = self.buckets[bucket].len();
        self.buckets[bucket].push(id);
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

/// Whether the arguments of a message had a say in who gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArgsRead {
    No,
    Yes,
}

/// One message's way through the index.
struct Search<'s, 'm> {
    index: &'s MatchIndex,
    subject: &'s MatchedMessage<'m>,
    found: &'s mut MatchedRecipients,
    args: ArgsRead,
}

impl Search<'_, '_> {
    /// Looks into the buckets of `kind` with the message's member and without.
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
        for id in &self.index.buckets[bucket] {
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

/// So many rules may have left their room behind.
const FEW_RULES: usize = 128;

/// The places of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let place = (set != 0).then_some(set.trailing_zeros() as u8)?;
        set &= set - 1;
        Some(place)
    })
}

/// `text` and all that it is below, where `separator` stands between levels; not the root path.
/// Those that are too long to stand in a rule are left out, so that long texts cost no more.
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
    fn prefixes_end_below_the_root() {
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
