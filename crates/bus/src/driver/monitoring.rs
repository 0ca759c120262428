//! Methods about who sees which messages.

use alloc::format;
use alloc::vec::Vec;

use wire::match_rule::{MATCH_RULE_LEN_MAX, MatchRule, MatchRuleErrorKind};

use super::Call;
use crate::bus::Bus;
use crate::effects::{Effect, Effects, Event};
use crate::error::{BusError, ErrorKind};
use crate::peers::{OwnedRule, RuleIndex, Stage};

pub(super) fn add_match(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let limit = bus.config.limits.max_match_rules_per_connection;
    let peer = &bus.peers[call.from];
    if peer.rule_count as u64 >= limit {
        return Err(ErrorKind::LimitsExceeded.because(format!(
            "Connection \"{}\" is not allowed to add more match rules \
             (increase limits in configuration file if required; \
             max_match_rules_per_connection={limit})",
            peer.name()
        )));
    }
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    if rule.eavesdrops() && !bus.is_privileged(call.from) {
        return Err(ErrorKind::AccessDenied.because(
            "The caller does not have the necessary privileged to add a match rule with eavesdrop=true",
        ));
    }
    let index = index_of(&rule);
    if let Some(id) = bus.rules_mut(index).add(call.from, rule) {
        bus.peers[call.from].rules.push(OwnedRule { index, id });
    }
    note_added_rule(bus, call);
    bus.reply(call, &(), fx);
    Ok(())
}

fn note_added_rule(bus: &mut Bus, call: &Call<'_>) {
    let peer = &mut bus.peers[call.from];
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
    let index = index_of(&rule);
    let removed = bus.rules_mut(index).remove(call.from, &rule).ok_or_else(|| {
        ErrorKind::MatchRuleNotFound
            .because("The given match rule wasn't found and can't be removed")
    })?;
    let peer = &mut bus.peers[call.from];
    peer.rule_count -= 1;
    bus.counters.rules -= 1;
    if let Some(id) = removed {
        let gone = OwnedRule { index, id };
        // What was added last is most often removed first.
        if let Some(place) = peer.rules.iter().rposition(|rule| *rule == gone) {
            peer.rules.swap_remove(place);
        }
    }
    bus.reply(call, &(), fx);
    Ok(())
}

pub(super) fn become_monitor(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let (texts, flags) = call.args::<(Vec<&str>, u32)>()?;
    if flags != 0 {
        return Err(ErrorKind::InvalidArgs.because("BecomeMonitor does not support any flags yet"));
    }
    let all: &[&str] = if texts.is_empty() { &[""] } else { &texts };
    let rules = all.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    bus.reply(call, &(), fx);
    bus.leave(call.from, fx);
    for rule in rules {
        if let Some(id) = bus.monitoring_rules.add(call.from, rule) {
            let index = RuleIndex::Monitoring;
            bus.peers[call.from].rules.push(OwnedRule { index, id });
        }
        note_added_rule(bus, call);
    }
    bus.peers[call.from].stage = Stage::Monitor;
    fx.push(Effect::Log(Event::BecameMonitor { peer: call.from }));
    Ok(())
}

fn index_of(rule: &MatchRule) -> RuleIndex {
    if rule.eavesdrops() { RuleIndex::Eavesdropping } else { RuleIndex::Plain }
}

fn parse(text: &str) -> Result<MatchRule, BusError> {
    MatchRule::parse(text).map_err(|error| match error.kind {
        MatchRuleErrorKind::TooLong { len } => ErrorKind::LimitsExceeded
            .because(format!("Match rule text is {len} bytes, maximum is {MATCH_RULE_LEN_MAX}")),
        _ => ErrorKind::MatchRuleInvalid.because(format!("{error}")),
    })
}
