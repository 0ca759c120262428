//! L26: an object emits two signals for one change.

use super::prelude::*;
use crate::lint::changes::is_change;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(26),
    title: "two signals for one change",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "Whenever an object emits PropertiesChanged, it also emits a signal of its own with a \
              name like Changed. Both report the same change, and every subscriber is woken twice.",
    thresholds: &[
        Threshold::count("pairs of signals of one object", PAIRS_MIN),
        Threshold::span("within", INSTANT),
    ],
    example: "NetworkManager 1.42 emits Device.StateChanged together with PropertiesChanged of the \
              same device, 99 times while network connections were made and closed.",
    advice: "Omit your own signal in the next version of the interface.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let by_object = grouped(&lint.signals, |it| (it.bus(), it.sender_id(), it.path_id()));
    let doubled = by_object.iter().flat_map(|signals| doubled(signals));
    let by_member =
        collected(doubled.map(|it| ((it.sender_id(), it.interface_id(), it.member_id()), it)));
    let often = by_member.iter().filter(|(_, signals)| signals.len() >= PAIRS_MIN);
    often.map(|(_, signals)| report(lint, signals)).collect()
}

/// Signals with `Changed` in their names, within [`INSTANT`] before or after a `PropertiesChanged`
/// of the object.
fn doubled<'c>(signals: &[CapturedMessage<'c>]) -> Vec<CapturedMessage<'c>> {
    let adjacent = signals.windows(2).filter_map(|two| {
        let own = match (is_change(&two[0]), is_change(&two[1])) {
            (true, false) => two[1],
            (false, true) => two[0],
            _ => return None,
        };
        let gap = two[1].at().since(two[0].at())?;
        (gap <= INSTANT && own.member().contains("Changed")).then_some(own)
    });
    adjacent.collect()
}

fn report(lint: &LintContext<'_>, signals: &[CapturedMessage<'_>]) -> Finding {
    let first = &signals[0];
    lint.of_signals(signals)
        .says(format!(
            "emits {} together with PropertiesChanged, {} times",
            short_name(first),
            signals.len()
        ))
        .confidence(Confidence::Medium)
}

const PAIRS_MIN: usize = 3;
const INSTANT: Duration = Duration::from_millis(1);
