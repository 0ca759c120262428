//! L23: PropertiesChanged announces values that have not changed.

use super::prelude::*;
use crate::lint::changes::{PropertyChange, is_change};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(23),
    title: "PropertiesChanged without a change",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "PropertiesChanged announces a value that was announced before. It wakes every \
              subscriber without reporting anything new.",
    thresholds: &[
        Threshold::count("announcements of a property without a change", SAME_MIN),
        Threshold::percent(
            "share of all announcements of the property, more than",
            SAME_PERCENT as u64,
        ),
    ],
    example: "systemd 252 announces FreezerState of units with an unchanged value, 477 of 569 \
              times. vlc 3.0 does the same with Rate, 48 of 49 times.",
    advice: "Compare with the old value before you emit the signal.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut last: HashMap<_, HashMap<_, u64>> = HashMap::default();
    let mut announced = Vec::new();
    let mut changes = lint.changes().iter().peekable();
    for signal in lint.signals.iter().filter(|signal| is_change(signal)) {
        let object = (signal.bus(), signal.sender_id(), signal.path_id());
        let Some(change) = changes.next_if(|change| change.signal.id() == signal.id()) else {
            // The recording does not show its values, so they may differ from the last known ones.
            last.remove(&object);
            continue;
        };
        let last = last.entry(object).or_default();
        for (name, value) in &change.values {
            let before = last.insert((&change.interface, name), *value);
            announced.push((key(change, name), (*signal, before == Some(*value))));
        }
    }
    let by_property = collected(announced);
    let checked =
        by_property.iter().filter_map(|((_, name), signals)| check_property(lint, name, signals));
    checked.collect()
}

fn key<'m>(change: &'m PropertyChange<'_>, name: &'m str) -> ((TextId, &'m str), &'m str) {
    ((change.signal.sender_id(), &*change.interface), name)
}

fn check_property(
    lint: &LintContext<'_>,
    name: &str,
    announced: &[(CapturedMessage<'_>, bool)],
) -> Option<Finding> {
    let same = announced.iter().filter(|(_, same)| *same).map(|(signal, _)| *signal);
    let same: Vec<_> = same.collect();
    if same.len() < SAME_MIN || same.len() * 100 <= announced.len() * SAME_PERCENT {
        return None;
    }
    let first = &same[0];
    let interface = lint.texts(first).into_iter().next().unwrap_or_default();
    Some(lint.of_signals(&same).about(format!("{interface}.{name}")).says(format!(
        "announces {name} of {interface} with an unchanged value, {} of {} times",
        same.len(),
        announced.len()
    )))
}

const SAME_MIN: usize = 3;
const SAME_PERCENT: usize = 20;
