//! Finds the match rules that select a broadcast signal.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::match_rule::{ArgMatch, MatchArgument, MatchSubject as _, PathMatch};
use wire::message::MessageType;

use crate::match_subject::RecordedMatchSubject;
use crate::model::{CapturedMessage, Health, MessageBuffer, TextId};
use crate::record::BusId;
use crate::subscriptions::{MatchRuleHistory, MatchRuleLifetime};

/// The match rules of a recording, indexed so that a signal is compared with few of them.
#[derive(Debug, Default)]
pub(crate) struct RuleIndex {
    candidates: HashMap<(BusId, TextId, TextId), Candidates, RandomState>,
    buffer: MessageBuffer,
}

/// The indexes of the match rules that select a signal, with the rules of a connection adjacent.
#[derive(Debug, Default)]
pub(crate) struct MatchedRules {
    pub(crate) rules: Vec<usize>,
    /// Rules that depend on arguments that the recording lacks.
    pub(crate) unsure: Vec<usize>,
}

/// The match rules for signals of one interface and member.
#[derive(Debug, Default)]
struct Candidates {
    by_path: HashMap<Box<str>, Vec<usize>, RandomState>,
    by_arg0: HashMap<Box<str>, Vec<usize>, RandomState>,
    rest: Vec<usize>,
    has_arguments: bool,
}

impl RuleIndex {
    /// Finds the rules that select a signal at the time it is sent. `rules` must be the same in
    /// each call.
    pub(crate) fn selecting(
        &mut self,
        rules: &MatchRuleHistory,
        signal: &CapturedMessage<'_>,
    ) -> MatchedRules {
        let all = &rules.all;
        if all.is_empty() {
            return MatchedRules::default();
        }
        let key = (signal.bus(), signal.interface_id(), signal.member_id());
        let found = self.candidates.entry(key).or_insert_with(|| Candidates::find(all, signal));
        let body = match found.has_arguments && signal.health() == Health::Whole {
            true => signal.capture().read_message(signal.id(), &mut self.buffer).ok().flatten(),
            false => None,
        };
        let has_body = body.is_some();
        let subject = RecordedMatchSubject::new(signal, body);
        let mut places = found.meeting(&subject, has_body);
        places.retain(|&place| all[place].is_there_at(signal));
        places.sort_unstable_by_key(|&place| (all[place].peer, place));
        let is_unsure = |place: &usize| !has_body && !all[*place].rule.args().is_empty();
        let (mut unsure, mut rules): (Vec<_>, Vec<_>) = places.into_iter().partition(is_unsure);
        rules.retain(|&place| all[place].rule.matches(&subject));
        unsure.retain(|&place| all[place].rule.clone().without_args().matches(&subject));
        MatchedRules { rules, unsure }
    }
}

impl Candidates {
    fn find(all: &[MatchRuleLifetime], signal: &CapturedMessage<'_>) -> Self {
        let mut found = Self::default();
        let meets = |one: &MatchRuleLifetime| one.bus == signal.bus() && header_agrees(one, signal);
        for (place, one) in all.iter().enumerate().filter(|(_, one)| meets(one)) {
            found.has_arguments |= !one.rule.args().is_empty();
            let list = match (one.rule.path(), one.rule.args().first()) {
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

    /// The rules that have the path and the first argument of a signal, or do not test them.
    fn meeting(&self, signal: &RecordedMatchSubject<'_>, has_body: bool) -> Vec<usize> {
        let by_path = signal.path().and_then(|path| self.by_path.get(path)).into_iter().flatten();
        let mut places: Vec<_> = self.rest.iter().chain(by_path).copied().collect();
        match signal.arg(0) {
            _ if !has_body => places.extend(self.by_arg0.values().flatten()),
            Some(MatchArgument::String(text)) => {
                places.extend(self.by_arg0.get(text).into_iter().flatten());
            }
            _ => {}
        }
        places
    }
}

fn header_agrees(one: &MatchRuleLifetime, signal: &CapturedMessage<'_>) -> bool {
    let rule = &one.rule;
    rule.message_type().is_none_or(|kind| kind == MessageType::Signal)
        && rule.member().is_none_or(|member| member == signal.member())
        && rule.interface().is_none_or(|interface| interface == signal.interface())
        && rule.destination().is_none()
}
