//! L24: several PropertiesChanged signals where one would suffice.

use super::prelude::*;
use crate::lint::changes::PropertyChange;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(24),
    title: "one signal for each changed property",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "An object emits several PropertiesChanged signals for one interface at the same \
              moment, one for each property. One signal could carry all of them.",
    thresholds: &[
        Threshold::count("signals of one object and interface", SIGNALS_MIN),
        Threshold::span("within", INSTANT),
    ],
    example: "NetworkManager 1.42 reports changes of one Device with up to 11 PropertiesChanged \
              signals within a millisecond.",
    advice: "Collect the changes and emit them together. PropertiesChanged takes any number of \
             properties.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let by_object = collected(lint.changes().iter().map(|change| {
        let signal = change.signal;
        ((signal.bus(), signal.sender_id(), signal.path_id(), &change.interface), change)
    }));
    let split = by_object.iter().flat_map(|(_, changes)| bursts(changes));
    let by_interface =
        collected(split.map(|burst| ((burst[0].signal.sender_id(), &burst[0].interface), burst)));
    by_interface.iter().map(|((_, interface), bursts)| report(lint, interface, bursts)).collect()
}

/// Runs of signals in which each follows the previous one within half of [`INSTANT`].
fn bursts<'m, 'c>(
    changes: &'m [&'m PropertyChange<'c>],
) -> impl Iterator<Item = &'m [&'m PropertyChange<'c>]> {
    let is_same = |one: &&PropertyChange<'_>, next: &&PropertyChange<'_>| {
        next.signal.at().since(one.signal.at()).is_some_and(|gap| gap <= INSTANT / 2)
    };
    changes.chunk_by(is_same).filter(|burst| {
        let signals: Vec<_> = burst.iter().map(|change| change.signal).collect();
        busiest(&signals, INSTANT).len() >= SIGNALS_MIN
    })
}

fn report(lint: &LintContext<'_>, interface: &str, bursts: &[&[&PropertyChange<'_>]]) -> Finding {
    let signals: Vec<_> =
        bursts.iter().flat_map(|burst| burst.iter()).map(|change| change.signal).collect();
    let most = bursts.iter().map(|burst| burst.len()).max().unwrap_or(0);
    let spare: Vec<_> = bursts.iter().flat_map(|burst| &burst[1..]).map(|it| it.signal).collect();
    lint.of_signals(&signals)
        .about(interface)
        .says(format!(
            "reports changes of {interface} with up to {most} signals at once, {}",
            units::counted(bursts.len() as u64, "time")
        ))
        .costs(Cost::of_signals(&spare))
}

const SIGNALS_MIN: usize = 3;
const INSTANT: Duration = Duration::from_millis(1);
