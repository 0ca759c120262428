//! Methods that control which messages a connection sees.

use alloc::vec::Vec;

use wire::match_rule::{MatchRule, MatchRuleErrorKind};

use super::call::{Call, Driver};
use super::ownership::give_up_names;
use crate::matching::RuleNotFound;
use crate::routing::Router;
use crate::types::{Effects, LogEvent, PeerId, RefusalReason};

pub(super) fn add_match(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
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

/// Checks the limit on match rules.
fn check_room(router: &Router, caller: PeerId) -> Result<(), RefusalReason> {
    let peer = &router.registry[caller];
    let max = router.config.limits_of(peer.user).max_match_rules_per_connection;
    let used = router.matching.counts_of(caller).current as u64;
    if used < max {
        return Ok(());
    }
    Err(RefusalReason::TooManyMatchRules { owner: peer.name().as_str().into(), max, used })
}

/// Decides by the security modules whether a caller may see messages to others.
pub(super) fn mediate_eavesdropping(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let Router { access, registry, .. } = &mut *driver.router;
    access.mediate_eavesdropping(call.from, registry, fx)
}

pub(super) fn remove_match(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (text,) = call.args::<(&str,)>()?;
    let rule = parse(text)?;
    let removed = driver.router.matching.remove(call.from, &rule);
    removed.map_err(|RuleNotFound| RefusalReason::MatchRuleNotFound)?;
    driver.reply(call, &(), fx)
}

pub(super) fn become_monitor(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    mediate_eavesdropping(driver, call, fx)?;
    let (texts, flags) = call.args::<(Vec<&str>, u32)>()?;
    if flags != 0 {
        return Err(RefusalReason::MonitorFlags);
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
    driver.router.forget_lanes(call.from, fx);
    driver.activation.forget(call.from, driver.router, fx);
    driver.reloads.forget(call.from);
    fx.log(LogEvent::BecameMonitor { peer: call.from });
    Ok(())
}

pub(super) fn parse(text: &str) -> Result<MatchRule, RefusalReason> {
    MatchRule::parse(text).map_err(|error| match error.kind {
        MatchRuleErrorKind::TooLong { len } => RefusalReason::MatchRuleTooLong { len },
        _ => RefusalReason::MatchRuleInvalid(error),
    })
}
