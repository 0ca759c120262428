//! Match rules through time.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use wire::match_rule::MatchRule;
use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage, CapturedMessageId, MessageBuffer, RecordedPeerId};
use crate::record::{BusId, Fact, RecordedTime};

/// A match rule of a connection, once for each time that it was added.
#[derive(Clone, Debug)]
pub(crate) struct MatchRuleLifetime {
    pub(crate) bus: BusId,
    pub(crate) peer: RecordedPeerId,
    pub(crate) rule: MatchRule,
    /// The time when the rule was added, or found by the recorder.
    pub(crate) since: RecordedTime,
    pub(crate) taken_back: Option<Removal>,
    /// The time when its connection left.
    left: Option<RecordedTime>,
    /// The AddMatch call; `None` if the recorder found the rule, which existed before.
    pub(crate) set_by: Option<CapturedMessageId>,
}

/// A call that removed a match rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Removal {
    at: RecordedTime,
    by: CapturedMessageId,
}

/// All match rules of a recording, in the order in which they were added or found.
#[derive(Debug, Default)]
pub(crate) struct MatchRuleHistory {
    pub(crate) all: Vec<MatchRuleLifetime>,
    /// The number of AddMatch and RemoveMatch calls whose rule is not known.
    unread: u64,
    /// Connections that removed a rule that is not known.
    doubtful: HashSet<RecordedPeerId, RandomState>,
    /// Connections that removed a rule.
    removers: HashSet<RecordedPeerId, RandomState>,
    open: HashMap<(RecordedPeerId, MatchRule), OpenMatchRule, RandomState>,
}

/// The instances of an equal rule that a connection has at present.
#[derive(Debug, Default)]
struct OpenMatchRule {
    places: Vec<usize>,
    /// The number of instances known only from AddMatch calls. The recorder is already listening
    /// when it reads all rules, so it finds these too.
    unfound: usize,
}

/// An event that adds or removes a match rule.
enum MatchRuleStep<'c> {
    /// The recorder found the rule.
    Found {
        rule: &'c str,
        times: u64,
    },
    Added(CapturedMessage<'c>),
    Removed(CapturedMessage<'c>),
}

impl MatchRuleLifetime {
    /// The time when the rule was removed, or its connection left.
    pub(crate) fn until(&self) -> Option<RecordedTime> {
        self.taken_back.map(|removal| removal.at).or(self.left)
    }

    /// The time when its connection left.
    pub(crate) const fn left(&self) -> Option<RecordedTime> {
        self.left
    }

    /// Returns true if the rule was added before a message, in the order of messages, and still
    /// exists.
    pub(crate) fn is_there_at(&self, message: &CapturedMessage<'_>) -> bool {
        self.set_by < Some(message.id()) && self.outlasts(message)
    }

    /// Returns true if the rule still exists when a message comes. If times are equal, the order of
    /// the messages decides.
    fn outlasts(&self, message: &CapturedMessage<'_>) -> bool {
        self.taken_back.is_none_or(|removal| message.id() < removal.by)
            && self.left.is_none_or(|left| message.at() <= left)
    }
}

impl MatchRuleHistory {
    /// Finds the match rules of the wanted connections.
    pub(crate) fn find(
        capture: &Capture,
        is_wanted: impl Fn(BusId, RecordedPeerId) -> bool,
    ) -> Self {
        let mut found = Self::default();
        let mut buffer = MessageBuffer::default();
        for (at, bus, peer, step) in steps(capture) {
            let Some(peer) = peer.filter(|&peer| is_wanted(bus, peer)) else { continue };
            match step {
                MatchRuleStep::Found { rule, times } => found.found((at, bus), peer, rule, times),
                MatchRuleStep::Added(call) => match rule_of(&call, &mut buffer) {
                    MatchRuleArgument::Rule(rule) => found.added(&call, peer, rule),
                    MatchRuleArgument::Hidden => found.unread += 1,
                    MatchRuleArgument::NoRule => {}
                },
                MatchRuleStep::Removed(call) => match rule_of(&call, &mut buffer) {
                    MatchRuleArgument::Rule(rule) => found.removed(&call, peer, rule),
                    MatchRuleArgument::Hidden => {
                        found.unread += 1;
                        found.doubtful.insert(peer);
                    }
                    MatchRuleArgument::NoRule => {}
                },
            }
        }
        for one in &mut found.all {
            one.left = capture.directory().peer(one.peer).left;
        }
        found
    }

    /// Returns true if a connection has removed a rule.
    pub(crate) fn has_removed(&self, peer: RecordedPeerId) -> bool {
        self.removers.contains(&peer)
    }

    /// Drops the rules of connections that removed a rule that is not known.
    pub(crate) fn without_doubtful(mut self) -> Self {
        self.all.retain(|one| !self.doubtful.contains(&one.peer));
        self
    }

    /// The number of AddMatch and RemoveMatch calls whose rule is not known.
    pub(crate) const fn unread(&self) -> u64 {
        self.unread
    }

    fn found(
        &mut self,
        (since, bus): (RecordedTime, BusId),
        peer: RecordedPeerId,
        rule: &str,
        times: u64,
    ) {
        let Ok(rule) = MatchRule::parse(rule) else { return };
        for _ in 0..times {
            if self.is_known(peer, &rule) {
                continue;
            }
            let rule = rule.clone();
            let (taken_back, left, set_by) = (None, None, None);
            self.add(MatchRuleLifetime { bus, peer, rule, since, taken_back, left, set_by });
            if self.all.len() >= RULES_MAX {
                break;
            }
        }
    }

    fn added(&mut self, call: &CapturedMessage<'_>, peer: RecordedPeerId, rule: MatchRule) {
        let (bus, since, set_by) = (call.bus(), call.at(), Some(call.id()));
        let (taken_back, left) = (None, None);
        self.add(MatchRuleLifetime { bus, peer, rule, since, taken_back, left, set_by });
    }

    fn removed(&mut self, call: &CapturedMessage<'_>, peer: RecordedPeerId, rule: MatchRule) {
        self.removers.insert(peer);
        let Some(open) = self.open.get_mut(&(peer, rule)) else { return };
        if let Some(place) = open.places.pop() {
            open.unfound = open.unfound.min(open.places.len());
            self.all[place].taken_back = Some(Removal { at: call.at(), by: call.id() });
        }
    }

    fn add(&mut self, one: MatchRuleLifetime) {
        let open = self.open.entry((one.peer, one.rule.clone())).or_default();
        open.places.push(self.all.len());
        open.unfound += usize::from(one.set_by.is_some());
        self.all.push(one);
    }

    /// Returns true if a rule found by the recorder was already known from its AddMatch call.
    /// Counts it as found.
    fn is_known(&mut self, peer: RecordedPeerId, rule: &MatchRule) -> bool {
        let Some(open) = self.open.get_mut(&(peer, rule.clone())) else { return false };
        let is_known = open.unfound > 0;
        open.unfound = open.unfound.saturating_sub(1);
        is_known
    }
}

/// The events about match rules with their connections, in order of time. Calls that the bus
/// rejected are left out.
fn steps(
    capture: &Capture,
) -> Vec<(RecordedTime, BusId, Option<RecordedPeerId>, MatchRuleStep<'_>)> {
    let calls = capture.messages().filter(|message| {
        message.kind() == MessageType::MethodCall
            && message.destination_id() == capture.driver()
            && message.partner().is_none_or(|reply| reply.kind() != MessageType::Error)
    });
    let calls = calls.filter_map(|call| match call.member() {
        "AddMatch" => Some((call.at(), call.bus(), call.from(), MatchRuleStep::Added(call))),
        "RemoveMatch" => Some((call.at(), call.bus(), call.from(), MatchRuleStep::Removed(call))),
        _ => None,
    });
    let facts = capture.facts().iter().filter_map(|(at, bus, fact)| match fact {
        Fact::Rule { unique, rule, times } => {
            let unique = capture.strings().find(unique);
            let peer = unique.and_then(|name| capture.directory().by_unique(*bus, name));
            Some((*at, *bus, peer, MatchRuleStep::Found { rule, times: *times }))
        }
        _ => None,
    });
    let mut steps: Vec<_> = facts.chain(calls).collect();
    steps.sort_by_key(|(at, ..)| *at);
    steps
}

/// The match rule in the body of a call.
enum MatchRuleArgument {
    Rule(MatchRule),
    /// The body was not recorded.
    Hidden,
    NoRule,
}

fn rule_of(call: &CapturedMessage<'_>, buffer: &mut MessageBuffer) -> MatchRuleArgument {
    let Ok(Some(call)) = call.capture().read_message(call.id(), buffer) else {
        return MatchRuleArgument::Hidden;
    };
    let rule = call.read::<(&str,)>().ok().and_then(|(rule,)| MatchRule::parse(rule).ok());
    rule.map_or(MatchRuleArgument::NoRule, MatchRuleArgument::Rule)
}

/// The maximum number of rules that the counts in a file may create. A file can claim that a rule
/// exists any number of times; beyond this total, each rule is added once.
const RULES_MAX: usize = 1 << 16;
