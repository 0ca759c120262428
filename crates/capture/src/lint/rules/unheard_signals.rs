//! L28: signals that nobody has asked for.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(28),
    title: "signals that nobody hears",
    rating: Rating::BY_COST,
    needs: Needs::Recipients,
    meaning: "A service emits signals that no match rule selects. Each wakes the bus, which looks \
              for listeners in vain.",
    thresholds: &[
        Threshold::count("such signals", UNHEARD_MIN),
        Threshold::rate("and of them, over the recording", RATE_MIN),
    ],
    seen: "systemd 252 emits Manager.UnitNew 309 times for a daemon-reload and some restarts, \
           while no connection listened to it.",
    advice: "Emit nothing while nobody shows an interest (a Subscribe method, or a property that \
             clients set), or send to those who asked.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let heard = grouped_audience(lint);
    let never = heard.iter().filter(|signals| signals.iter().all(|(_, count)| *count == 0));
    never.filter_map(|signals| check_member(lint, signals)).collect()
}

/// Signals whose recipients are known, by sender and member.
pub(super) fn grouped_audience<'c>(lint: &LintContext<'c>) -> Vec<Vec<(CapturedMessage<'c>, u64)>> {
    let heard = lint.audience().heard.iter().filter(|(signal, _)| !signal.is_driver_traffic());
    let keyed = heard.map(|(signal, count)| {
        let member = (signal.interface_id(), signal.member_id());
        ((signal.bus(), signal.sender_id(), member), (*signal, *count))
    });
    collected(keyed).into_iter().map(|(_, signals)| signals).collect()
}

/// How long a recording lasts, at least a second.
pub(super) fn seconds(lint: &LintContext<'_>, signal: &CapturedMessage<'_>) -> u64 {
    lint.recorded(signal.bus()).as_secs().max(1)
}

fn check_member(lint: &LintContext<'_>, signals: &[(CapturedMessage<'_>, u64)]) -> Option<Finding> {
    let first = &signals[0].0;
    let count = signals.len() as u64;
    if signals.len() < UNHEARD_MIN || count / seconds(lint, first) < RATE_MIN {
        return None;
    }
    let signals: Vec<_> = signals.iter().map(|(signal, _)| *signal).collect();
    Some(
        lint.of_signals(&signals)
            .says(format!("emits {} {count} times, and nobody hears it", short_name(first)))
            .costs(Cost { wake_ups: count, ..Cost::of_bytes(&signals) }),
    )
}

const UNHEARD_MIN: usize = 40;
const RATE_MIN: u64 = 10;
