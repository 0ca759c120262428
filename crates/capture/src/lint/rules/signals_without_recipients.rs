//! L28: signals that match no rule of any connection.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(28),
    title: "signals without recipients",
    rating: Rating::BY_COST,
    needs: Needs::Recipients,
    meaning: "A service emits signals that no match rule matches. Each wakes the bus, which \
              searches for recipients and finds none.",
    thresholds: &[
        Threshold::count("such signals", UNHEARD_MIN),
        Threshold::rate("and their average rate over the recording", RATE_MIN),
    ],
    example: "systemd 252 emits Manager.UnitNew 309 times for a daemon-reload and some restarts, \
              while no connection subscribed to it.",
    advice: "Emit the signal only while a client has registered for it (with a Subscribe method, \
             or a property that clients set), or send it only to these clients.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let counted = grouped_audience(lint);
    let unheard = counted.iter().filter(|signals| signals.iter().all(|(_, count)| *count == 0));
    unheard.filter_map(|signals| check_member(lint, signals)).collect()
}

/// Signals with a known number of recipients, grouped by sender and member.
pub(super) fn grouped_audience<'c>(lint: &LintContext<'c>) -> Vec<Vec<(CapturedMessage<'c>, u64)>> {
    let counted = lint.audience().counted.iter().filter(|(it, _)| !it.is_driver_traffic());
    let keyed = counted.map(|(signal, count)| {
        let member = (signal.interface_id(), signal.member_id());
        ((signal.bus(), signal.sender_id(), member), (*signal, *count))
    });
    collected(keyed).into_iter().map(|(_, signals)| signals).collect()
}

/// The recorded time of the signal's bus in seconds; at least 1.
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
            .says(format!("emits {} {count} times, without any recipient", short_name(first)))
            .costs(Cost { wake_ups: count, ..Cost::of_bytes(&signals) }),
    )
}

const UNHEARD_MIN: usize = 40;
const RATE_MIN: u64 = 10;
