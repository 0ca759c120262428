//! Who got which signals, by the match rules that are known.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::match_rule::{Arg, ArgMatch, PathMatch};
use wire::message::MessageType;

use super::context::{Context, Party};
use super::finding::Evidence;
use crate::model::{Health, Message, PeerId, Text};
use crate::record::{BusId, Time};
use crate::subscriptions::{Subscription, Subscriptions};

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
    /// Messages that it may have selected; the arguments that it asks for cannot be read.
    pub(super) unread: u64,
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
            let Selecting { mut rules, unsure } = index.selecting(lint, signal);
            unsure.iter().for_each(|&rule| audience.selected[rule].unread += 1);
            rules.iter().for_each(|&rule| audience.selected[rule].add(signal));
            rules.dedup_by_key(|&mut rule| subscriptions.all[rule].peer);
            for peer in rules.iter().map(|&rule| subscriptions.all[rule].peer) {
                audience.reach(peer, signal, &sent);
            }
            let traced = signal.deliveries().map(<[_]>::len);
            let is_known = unsure.is_empty()
                && subscriptions.is_complete(signal.bus())
                && !lint.lacks_headers(signal.bus());
            let by_rules = is_known.then_some(rules.len());
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

/// The places of rules that select a signal, those of a connection one after the other.
#[derive(Default)]
struct Selecting {
    rules: Vec<usize>,
    /// Those of which nobody can tell, as they ask for arguments that cannot be read.
    unsure: Vec<usize>,
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

    fn selecting(&mut self, lint: &Context<'_>, signal: &Message<'_>) -> Selecting {
        if self.subscriptions.all.is_empty() {
            return Selecting::default();
        }
        let key = (signal.bus(), signal.sender_id(), signal.interface_id(), signal.member_id());
        let all = &self.subscriptions.all;
        let found =
            self.candidates.entry(key).or_insert_with(|| Candidates::find(lint, all, signal));
        let by_path = found.by_path.get(signal.path()).into_iter().flatten();
        let mut rules: Vec<_> = found.rest.iter().chain(by_path).copied().collect();
        if signal.health() != Health::Whole {
            rules.extend(found.by_arg0.values().flatten());
        } else if !found.by_arg0.is_empty()
            && let Some(first) = lint.texts(signal).first()
        {
            rules.extend(found.by_arg0.get(first.as_str()).into_iter().flatten());
        }
        rules.retain(|&rule| {
            let path = all[rule].rule.path();
            all[rule].was_set_at(signal.at()) && path.is_none_or(|path| path.selects(signal.path()))
        });
        rules.sort_unstable_by_key(|&rule| (all[rule].peer, rule));
        by_arguments(lint, rules, all, signal)
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

/// Of rules that agree in all else those whose arguments do.
fn by_arguments(
    lint: &Context<'_>,
    mut rules: Vec<usize>,
    all: &[Subscription],
    signal: &Message<'_>,
) -> Selecting {
    if signal.health() != Health::Whole {
        let (rules, unsure) = rules.into_iter().partition(|&rule| all[rule].rule.args().is_empty());
        return Selecting { rules, unsure };
    }
    rules.retain(|&rule| agrees(lint, &all[rule], signal));
    Selecting { rules, unsure: Vec::new() }
}

/// Whether the arguments are those that a rule asks for.
fn agrees(lint: &Context<'_>, one: &Subscription, signal: &Message<'_>) -> bool {
    let args = one.rule.args();
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
