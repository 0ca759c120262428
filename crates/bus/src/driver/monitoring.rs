//! Methods about who sees which messages.

use alloc::format;
use alloc::vec::Vec;

use wire::match_rule::{MATCH_RULE_LEN_MAX, MatchRule, MatchRuleErrorKind};

use super::Call;
use crate::bus::Bus;
use crate::effects::{Effects, Event};
use crate::error::{BusError, ErrorKind};
use crate::input::PeerId;
use crate::matches::Removed;
use crate::peers::{OwnedRule, RuleIndex, Stage};
use crate::reached::LimitName;

pub(super) fn add_match(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let peer = &bus.peers[call.from];
    let limit = bus.config.limits_of(peer.uid).max_match_rules_per_connection;
    if peer.rule_count as u64 >= limit {
        return Err(ErrorKind::LimitsExceeded
            .because(format!(
                "Connection \"{}\" is not allowed to add more match rules \
             (increase limits in configuration file if required; \
             max_match_rules_per_connection={limit})",
                peer.name()
            ))
            .at_limit(LimitName::MatchRulesPerConnection, limit, peer.rule_count as u64));
    }
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    if rule.eavesdrops() {
        bus.check_privileged(call, "AddMatch")?;
        bus.mediate_eavesdropping(call.from, fx)?;
    }
    add_rule(bus, call.from, index_of(&rule), rule);
    bus.reply(call, &(), fx)
}

fn add_rule(bus: &mut Bus, owner: PeerId, index: RuleIndex, rule: MatchRule) {
    let place = bus.peers[owner].rules.len();
    if let Some(id) = bus.rules_mut(index).add(owner, rule, place) {
        bus.peers[owner].rules.push(OwnedRule { index, id });
    }
    let peer = &mut bus.peers[owner];
    peer.rule_count += 1;
    peer.peaks.rules = peer.peaks.rules.max(peer.rule_count);
    let counters = &mut bus.counters;
    counters.rules += 1;
    counters.peak_rules = counters.peak_rules.max(counters.rules);
    counters.peak_rules_per_peer = counters.peak_rules_per_peer.max(peer.rule_count);
}

pub(super) fn remove_match(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    match bus.rules_mut(index_of(&rule)).remove(call.from, &rule) {
        Removed::Nothing => {
            return Err(ErrorKind::MatchRuleNotFound
                .because("The given match rule wasn't found and can't be removed"));
        }
        Removed::Once => {}
        Removed::Last { place } => forget_rule(bus, call.from, place),
    }
    bus.peers[call.from].rule_count -= 1;
    bus.counters.rules -= 1;
    bus.reply(call, &(), fx)
}

/// Takes a rule out of the list of its owner, and the last one takes its place.
fn forget_rule(bus: &mut Bus, owner: PeerId, place: usize) {
    let rules = &mut bus.peers[owner].rules;
    rules.swap_remove(place);
    if let Some(&OwnedRule { index, id }) = rules.get(place) {
        bus.rules_mut(index).set_place(id, place);
    }
}

pub(super) fn become_monitor(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    bus.mediate_eavesdropping(call.from, fx)?;
    let (texts, flags) = call.args::<(Vec<&str>, u32)>()?;
    if flags != 0 {
        return Err(ErrorKind::InvalidArgs.because("BecomeMonitor does not support any flags yet"));
    }
    let all: &[&str] = if texts.is_empty() { &[""] } else { &texts };
    let rules = all.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    bus.reply(call, &(), fx)?;
    bus.give_up_names(call.from, fx);
    bus.drop_rules(call.from);
    for rule in rules {
        add_rule(bus, call.from, RuleIndex::Monitoring, rule);
    }
    bus.peers[call.from].stage = Stage::Monitor;
    bus.drop_replies(call.from, fx);
    bus.drop_waiting(call.from, fx);
    bus.reloads.forget(call.from);
    fx.log(Event::BecameMonitor { peer: call.from });
    Ok(())
}

fn index_of(rule: &MatchRule) -> RuleIndex {
    if rule.eavesdrops() { RuleIndex::Eavesdropping } else { RuleIndex::Plain }
}

pub(super) fn parse(text: &str) -> Result<MatchRule, BusError> {
    MatchRule::parse(text).map_err(|error| match error.kind {
        MatchRuleErrorKind::TooLong { len } => ErrorKind::LimitsExceeded
            .because(format!("Match rule text is {len} bytes, maximum is {MATCH_RULE_LEN_MAX}")),
        _ => ErrorKind::MatchRuleInvalid.because(format!("{error}")),
    })
}
