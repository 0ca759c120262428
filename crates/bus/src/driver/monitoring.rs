//! Methods about which messages a connection sees.

use alloc::format;
use alloc::vec::Vec;

use wire::match_rule::{MATCH_RULE_LEN_MAX, MatchRule, MatchRuleErrorKind};

use super::call::{Call, Driver};
use super::ownership::give_up_names;
use crate::matching::RuleNotFound;
use crate::routing::Router;
use crate::types::{BusError, Effects, ErrorKind, LimitName, LogEvent, PeerId};

pub(super) fn add_match(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    check_room(driver.router, call.from)?;
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    if rule.eavesdrops() {
        driver.check_privileged(call, "AddMatch")?;
        mediate_eavesdropping(driver, call, fx)?;
    }
    driver.router.matching.add(call.from, rule);
    driver.reply(call, &(), fx)
}

/// The limit on match rules.
fn check_room(router: &Router, caller: PeerId) -> Result<(), BusError> {
    let peer = &router.registry[caller];
    let limit = router.config.limits_of(peer.user).max_match_rules_per_connection;
    let count = router.matching.counts_of(caller).current as u64;
    if count < limit {
        return Ok(());
    }
    Err(ErrorKind::LimitsExceeded
        .because(format!(
            "Connection \"{}\" is not allowed to add more match rules \
             (increase limits in configuration file if required; \
             max_match_rules_per_connection={limit})",
            peer.name()
        ))
        .at_limit(LimitName::MatchRulesPerConnection, limit, count))
}

/// Whether the security modules let a caller see messages to others.
pub(super) fn mediate_eavesdropping(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let Router { access, registry, .. } = &mut *driver.router;
    access.mediate_eavesdropping(call.from, registry, fx)
}

pub(super) fn remove_match(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    driver.router.matching.remove(call.from, &rule).map_err(|RuleNotFound| {
        ErrorKind::MatchRuleNotFound
            .because("The given match rule wasn't found and can't be removed")
    })?;
    driver.reply(call, &(), fx)
}

pub(super) fn become_monitor(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    mediate_eavesdropping(driver, call, fx)?;
    let (texts, flags) = call.args::<(Vec<&str>, u32)>()?;
    if flags != 0 {
        return Err(ErrorKind::InvalidArgs.because("BecomeMonitor does not support any flags yet"));
    }
    let all: &[&str] = if texts.is_empty() { &[""] } else { &texts };
    let rules = all.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    driver.reply(call, &(), fx)?;
    give_up_names(call.from, driver.router, fx);
    let Router { matching, registry, .. } = &mut *driver.router;
    matching.remove_all(call.from);
    registry.become_monitor(call.from);
    for rule in rules {
        matching.add_for_monitor(call.from, rule);
    }
    driver.router.drop_calls(call.from, fx);
    driver.activation.forget(call.from, driver.router, fx);
    driver.reloads.forget(call.from);
    fx.log(LogEvent::BecameMonitor { peer: call.from });
    Ok(())
}

pub(super) fn parse(text: &str) -> Result<MatchRule, BusError> {
    MatchRule::parse(text).map_err(|error| match error.kind {
        MatchRuleErrorKind::TooLong { len } => ErrorKind::LimitsExceeded
            .because(format!("Match rule text is {len} bytes, maximum is {MATCH_RULE_LEN_MAX}")),
        _ => ErrorKind::MatchRuleInvalid.because(format!("{error}")),
    })
}
