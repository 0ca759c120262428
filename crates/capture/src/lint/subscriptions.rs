//! Match rules through time, and who got which signals by them.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::match_rule::{Arg, ArgMatch, MatchRule, PathMatch};
use wire::message::MessageType;

use super::context::{Context, Party};
use super::finding::Evidence;
use crate::model::{Message, PeerId, Text};
use crate::record::{BusId, Fact, Time};

/// A match rule of a connection.
#[derive(Clone, Debug)]
pub(super) struct Subscription {
    pub(super) bus: BusId,
    pub(super) peer: PeerId,
    pub(super) rule: MatchRule,
    pub(super) since: Time,
    /// When it was taken back, or its connection left.
    pub(super) until: Option<Time>,
    /// The call that set it, if that was recorded.
    pub(super) set_by: Option<crate::model::MessageId>,
}

/// All match rules of a recording.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    pub(super) all: Vec<Subscription>,
    /// Buses of which the recorder has found all rules.
    complete: Vec<BusId>,
    /// Those who have taken a rule back.
    removers: Vec<PeerId>,
    open: HashMap<(PeerId, MatchRule), Open, RandomState>,
}

/// The same rule of a connection, as often as it is set now.
#[derive(Debug, Default)]
struct Open {
    places: Vec<usize>,
    /// How many of them are known by the calls that set them alone. The recorder asks for all rules
    /// when it listens already, so it finds those too.
    unfound: usize,
}

/// Something that tells of a rule.
enum Step<'l, 'c> {
    /// The recorder has found it.
    Found {
        at: Time,
        bus: BusId,
        unique: &'c str,
        rule: &'c str,
        times: u64,
    },
    Added(&'l Message<'c>),
    Removed(&'l Message<'c>),
}

/// What tells of rules, in the order of time.
fn steps<'l, 'c>(lint: &'l Context<'c>) -> Vec<(Time, Step<'l, 'c>)> {
    let calls = lint.calls.iter().filter(|call| call.destination_id() == lint.capture.driver());
    let calls = calls.filter_map(|call| match call.member() {
        "AddMatch" => Some((call.at(), Step::Added(call))),
        "RemoveMatch" => Some((call.at(), Step::Removed(call))),
        _ => None,
    });
    let facts = lint.capture.facts().iter().filter_map(|(at, bus, fact)| match fact {
        Fact::Rule { unique, rule, times } => {
            Some((*at, Step::Found { at: *at, bus: *bus, unique, rule, times: *times }))
        }
        _ => None,
    });
    let mut steps: Vec<_> = calls.chain(facts).collect();
    steps.sort_by_key(|(at, _)| *at);
    steps
}

impl Subscription {
    pub(super) fn was_set_at(&self, at: Time) -> bool {
        self.since <= at && self.until.is_none_or(|until| at <= until)
    }
}

impl Subscriptions {
    pub(super) fn find(lint: &Context<'_>) -> Self {
        let mut found = Self::default();
        for (_, step) in steps(lint) {
            match step {
                Step::Found { at, bus, unique, rule, times } => {
                    (0..times).for_each(|_| found.told(lint, (at, bus), unique, rule));
                }
                Step::Added(call) => found.added(lint, call),
                Step::Removed(call) => found.removed(lint, call),
            }
        }
        for one in &mut found.all {
            one.until = one.until.or(lint.capture.directory().peer(one.peer).left);
        }
        found
    }

    /// Whether all rules of a bus are known.
    pub(super) fn is_complete(&self, bus: BusId) -> bool {
        self.complete.contains(&bus)
    }

    /// Whether somebody has taken a rule back.
    pub(super) fn has_removed(&self, peer: PeerId) -> bool {
        self.removers.contains(&peer)
    }

    /// Rules by connection, each with its place among all.
    pub(super) fn by_peer(&self) -> Vec<(PeerId, Vec<(usize, &Subscription)>)> {
        super::patterns::collected(
            self.all.iter().enumerate().map(|(place, one)| (one.peer, (place, one))),
        )
    }

    fn told(&mut self, lint: &Context<'_>, (at, bus): (Time, BusId), unique: &str, rule: &str) {
        if !self.complete.contains(&bus) {
            self.complete.push(bus);
        }
        let unique = lint.capture.strings().find(unique);
        let peer = unique.and_then(|name| lint.capture.directory().by_unique(bus, name));
        let (Some(peer), Ok(rule)) = (peer, MatchRule::parse(rule)) else { return };
        if !lint.is_observer(peer) && !self.is_known(peer, &rule) {
            self.add(Subscription { bus, peer, rule, since: at, until: None, set_by: None });
        }
    }

    fn added(&mut self, lint: &Context<'_>, call: &Message<'_>) {
        let refused = call.partner().is_some_and(|reply| reply.kind() == MessageType::Error);
        if let Some((peer, rule)) = rule_of(lint, call).filter(|_| !refused) {
            let (bus, since, set_by) = (call.bus(), call.at(), Some(call.id()));
            self.add(Subscription { bus, peer, rule, since, until: None, set_by });
        }
    }

    fn removed(&mut self, lint: &Context<'_>, call: &Message<'_>) {
        let Some((peer, rule)) = rule_of(lint, call) else { return };
        if !self.has_removed(peer) {
            self.removers.push(peer);
        }
        let Some(open) = self.open.get_mut(&(peer, rule)) else { return };
        if let Some(place) = open.places.pop() {
            open.unfound = open.unfound.min(open.places.len());
            self.all[place].until = Some(call.at());
        }
    }

    fn add(&mut self, one: Subscription) {
        let open = self.open.entry((one.peer, one.rule.clone())).or_default();
        open.places.push(self.all.len());
        open.unfound += usize::from(one.set_by.is_some());
        self.all.push(one);
    }

    /// Whether a rule that the recorder has found is one whose call it has seen.
    fn is_known(&mut self, peer: PeerId, rule: &MatchRule) -> bool {
        let Some(open) = self.open.get_mut(&(peer, rule.clone())) else { return false };
        let is_known = open.unfound > 0;
        open.unfound = open.unfound.saturating_sub(1);
        is_known
    }
}

fn rule_of(lint: &Context<'_>, call: &Message<'_>) -> Option<(PeerId, MatchRule)> {
    let text =
        lint.read(call, |body| body.read::<(&str,)>().ok().map(|(rule,)| rule.to_owned()))?;
    Some((call.from()?, MatchRule::parse(&text).ok()?))
}

/// Who got which signals.
#[derive(Debug, Default)]
pub(super) struct Audience<'c> {
    /// Broadcast signals whose recipients are known, with their number.
    pub(super) heard: Vec<(Message<'c>, u32)>,
    /// By place of a rule: what it selected.
    pub(super) selected: Vec<Selected>,
    /// By connection, sender and interface: what reached it.
    pub(super) reached: HashMap<(PeerId, Text, Text), Reached, RandomState>,
}

/// What a match rule has selected.
#[derive(Clone, Debug, Default)]
pub(super) struct Selected {
    pub(super) messages: Evidence,
    /// Different senders, as far as they were counted.
    pub(super) senders: Vec<Text>,
}

/// Signals of one sender and interface that reached a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached {
    pub(super) messages: Evidence,
    pub(super) bytes: u64,
    /// After how many of them it sent something soon.
    pub(super) reactions: u64,
}

impl<'c> Audience<'c> {
    pub(super) fn find(lint: &Context<'c>) -> Self {
        let subscriptions = lint.subscriptions();
        let mut index = Index::new(lint, subscriptions);
        let sent = sent_times(lint);
        let mut audience = Self {
            selected: vec![Selected::default(); subscriptions.all.len()],
            ..Self::default()
        };
        for signal in lint.signals.iter().filter(|signal| signal.destination_id().is_none()) {
            let mut rules = index.selecting(lint, signal);
            rules.iter().for_each(|&rule| audience.selected[rule].add(signal));
            rules.dedup_by_key(|&mut rule| subscriptions.all[rule].peer);
            for peer in rules.iter().map(|&rule| subscriptions.all[rule].peer) {
                audience.reach(peer, signal, &sent);
            }
            let traced = signal.deliveries().map(<[_]>::len);
            let by_rules = subscriptions.is_complete(signal.bus()).then_some(rules.len());
            if let Some(count) = traced.or(by_rules) {
                audience.heard.push((*signal, count as u32));
            }
        }
        audience
    }

    fn reach(&mut self, peer: PeerId, signal: &Message<'c>, sent: &SentTimes) {
        let key = (peer, signal.sender_id(), signal.interface_id());
        let reached = self.reached.entry(key).or_default();
        reached.messages.add(signal.id());
        reached.bytes += u64::from(signal.len());
        reached.reactions += u64::from(reacts(sent, peer, signal.at()));
    }
}

impl Selected {
    fn add(&mut self, signal: &Message<'_>) {
        self.messages.add(signal.id());
        if self.senders.len() < SENDERS_COUNTED && !self.senders.contains(&signal.sender_id()) {
            self.senders.push(signal.sender_id());
        }
    }
}

/// When each connection has sent something.
type SentTimes = HashMap<PeerId, Vec<Time>, RandomState>;

fn sent_times(lint: &Context<'_>) -> SentTimes {
    let mut sent = SentTimes::default();
    for one in &lint.subscriptions().all {
        sent.entry(one.peer).or_default();
    }
    for message in lint.capture.messages() {
        if let Some(times) = message.from().and_then(|peer| sent.get_mut(&peer)) {
            times.push(message.at());
        }
    }
    sent.values_mut().for_each(|times| times.sort_unstable());
    sent
}

/// Whether a connection has sent something soon after this time.
fn reacts(sent: &SentTimes, peer: PeerId, at: Time) -> bool {
    let Some(times) = sent.get(&peer) else { return false };
    let next = times.partition_point(|&time| time <= at);
    times.get(next).is_some_and(|&time| time <= at.after(REACTION))
}

/// Rules by what they ask for, so that a signal meets only those that may select it.
struct Index<'s> {
    subscriptions: &'s Subscriptions,
    candidates: HashMap<(BusId, Text, Text, Text), Candidates, RandomState>,
}

/// Rules that agree with the sender, interface and member of a signal.
#[derive(Default)]
struct Candidates {
    by_path: HashMap<Box<str>, Vec<usize>, RandomState>,
    by_arg0: HashMap<Box<str>, Vec<usize>, RandomState>,
    rest: Vec<usize>,
}

impl<'s> Index<'s> {
    fn new(_: &Context<'_>, subscriptions: &'s Subscriptions) -> Self {
        Self { subscriptions, candidates: HashMap::default() }
    }

    /// The places of rules that select a signal, those of a connection one after the other.
    fn selecting(&mut self, lint: &Context<'_>, signal: &Message<'_>) -> Vec<usize> {
        if self.subscriptions.all.is_empty() {
            return Vec::new();
        }
        let key = (signal.bus(), signal.sender_id(), signal.interface_id(), signal.member_id());
        let all = &self.subscriptions.all;
        let found =
            self.candidates.entry(key).or_insert_with(|| Candidates::find(lint, all, signal));
        let by_path = found.by_path.get(signal.path()).into_iter().flatten();
        let mut rules: Vec<_> = found.rest.iter().chain(by_path).copied().collect();
        if !found.by_arg0.is_empty()
            && let Some(first) = lint.texts(signal).first()
        {
            rules.extend(found.by_arg0.get(first.as_str()).into_iter().flatten());
        }
        rules.retain(|&rule| all[rule].was_set_at(signal.at()) && agrees(lint, &all[rule], signal));
        rules.sort_unstable_by_key(|&rule| (all[rule].peer, rule));
        rules
    }
}

impl Candidates {
    fn find(lint: &Context<'_>, all: &[Subscription], signal: &Message<'_>) -> Self {
        let mut found = Self::default();
        let sender = lint.sender(signal);
        for (place, one) in all.iter().enumerate() {
            if one.bus != signal.bus() || !header_agrees(lint, one, signal, sender) {
                continue;
            }
            let first = one.rule.args().first();
            let list = match (one.rule.path(), first) {
                (Some(PathMatch::Exact(path)), _) => found.by_path.entry(path.into()).or_default(),
                (_, Some(arg)) if arg.index == 0 && arg.how == ArgMatch::Equal => {
                    found.by_arg0.entry(arg.value.clone()).or_default()
                }
                _ => &mut found.rest,
            };
            list.push(place);
        }
        found
    }
}

fn header_agrees(
    lint: &Context<'_>,
    one: &Subscription,
    signal: &Message<'_>,
    sender: Party,
) -> bool {
    let rule = &one.rule;
    rule.message_type().is_none_or(|kind| kind == MessageType::Signal)
        && rule.member().is_none_or(|member| member == signal.member())
        && rule.interface().is_none_or(|interface| interface == signal.interface())
        && rule.destination().is_none()
        && rule.sender().is_none_or(|name| is_name_of(lint, sender, name))
}

fn is_name_of(lint: &Context<'_>, party: Party, name: &str) -> bool {
    let strings = lint.capture.strings();
    match party {
        Party::Name(_, known) => strings.get(known) == name,
        Party::Peer(peer) => {
            let peer = lint.capture.directory().peer(peer);
            let mut names = peer.names.iter().chain([&peer.unique]);
            names.any(|&known| strings.get(known) == name)
        }
    }
}

/// Whether the path and the arguments are those that a rule asks for.
fn agrees(lint: &Context<'_>, one: &Subscription, signal: &Message<'_>) -> bool {
    let args = one.rule.args();
    if !one.rule.path().is_none_or(|path| path.selects(signal.path())) {
        return false;
    }
    args.is_empty()
        || lint
            .read(signal, |body| {
                let found: Vec<Arg<'_>> = body.args().collect();
                let arg = |index: u8| found.get(usize::from(index)).copied();
                Some(args.iter().all(|wanted| wanted.selects(arg(wanted.index))))
            })
            .unwrap_or(false)
}

/// Who sends something within this time after a signal may have done so because of it.
const REACTION: Duration = Duration::from_millis(10);

/// Senders beyond this number are not told apart.
const SENDERS_COUNTED: usize = 16;
