//! Match rules through time.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::match_rule::MatchRule;
use wire::message::MessageType;

use super::context::Context;
use crate::model::{Message, PeerId};
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
    /// Buses on which a call set a rule, or took one back, and does not show which.
    hidden: Vec<BusId>,
    /// Those who have taken a rule back.
    removers: Vec<PeerId>,
    /// Those of them who have taken back nobody knows which, so that any may be gone.
    doubtful: Vec<PeerId>,
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
        found.all.retain(|one| !found.doubtful.contains(&one.peer));
        found
    }

    /// Whether all rules of a bus are known.
    pub(super) fn is_complete(&self, bus: BusId) -> bool {
        self.complete.contains(&bus) && !self.hidden.contains(&bus)
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
        // Who crosses out what messages say leaves out the rules that ask for it.
        if !self.complete.contains(&bus) && !lint.is_redacted(bus) {
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
        if refused {
            return;
        }
        let Some((peer, rule)) = rule_of(lint, call) else { return self.hide(call.bus()) };
        let (bus, since, set_by) = (call.bus(), call.at(), Some(call.id()));
        self.add(Subscription { bus, peer, rule, since, until: None, set_by });
    }

    fn removed(&mut self, lint: &Context<'_>, call: &Message<'_>) {
        let Some((peer, rule)) = rule_of(lint, call) else {
            self.hide(call.bus());
            self.doubtful.extend(call.from());
            return;
        };
        if !self.has_removed(peer) {
            self.removers.push(peer);
        }
        let Some(open) = self.open.get_mut(&(peer, rule)) else { return };
        if let Some(place) = open.places.pop() {
            open.unfound = open.unfound.min(open.places.len());
            self.all[place].until = Some(call.at());
        }
    }

    fn hide(&mut self, bus: BusId) {
        if !self.hidden.contains(&bus) {
            self.hidden.push(bus);
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
