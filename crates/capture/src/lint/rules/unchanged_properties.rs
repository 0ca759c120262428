//! L23: changes that are none.

use super::prelude::*;
use crate::lint::changes::{PropertyChange, is_change};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(23),
    title: "changed properties that have not changed",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "PropertiesChanged tells a value that was told before. All who listen are woken to \
              learn what they know.",
    thresholds: &[
        Threshold::count("announcements of a property without a change", SAME_MIN),
        Threshold::percent("of all its announcements", SAME_PERCENT as u64),
    ],
    seen: "systemd 252 announces FreezerState of units with the value that it had, 477 of 569 \
           times; vlc 3.0 does the same with Rate, 48 of 49 times.",
    advice: "Compare with the old value before you emit.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut last: HashMap<_, HashMap<_, u64>> = HashMap::new();
    let mut told = Vec::new();
    let mut changes = lint.changes().iter().peekable();
    for signal in lint.signals.iter().filter(|signal| is_change(signal)) {
        let object = (signal.bus(), signal.sender_id(), signal.path_id());
        let Some(change) = changes.next_if(|change| change.signal.id() == signal.id()) else {
            // It does not show what it says, which may be another value.
            last.remove(&object);
            continue;
        };
        let last = last.entry(object).or_default();
        for (name, value) in &change.values {
            let before = last.insert((&change.interface, name), *value);
            told.push((key(change, name), (*signal, before == Some(*value))));
        }
    }
    let by_property = collected(told);
    by_property.iter().filter_map(|((_, name), told)| check_property(lint, name, told)).collect()
}

fn key<'m>(change: &'m PropertyChange<'_>, name: &'m str) -> ((TextId, &'m str), &'m str) {
    ((change.signal.sender_id(), &*change.interface), name)
}

fn check_property(
    lint: &LintContext<'_>,
    name: &str,
    told: &[(CapturedMessage<'_>, bool)],
) -> Option<Finding> {
    let same: Vec<_> = told.iter().filter(|(_, same)| *same).map(|(signal, _)| *signal).collect();
    if same.len() < SAME_MIN || same.len() * 100 <= told.len() * SAME_PERCENT {
        return None;
    }
    let first = &same[0];
    let interface = lint.texts(first).into_iter().next().unwrap_or_default();
    Some(lint.of_signals(&same).about(format!("{interface}.{name}")).says(format!(
        "announces {name} of {interface} with the value that it had, {} of {} times",
        same.len(),
        told.len()
    )))
}

const SAME_MIN: usize = 3;
const SAME_PERCENT: usize = 20;
