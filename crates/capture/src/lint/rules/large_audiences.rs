//! L30: signals that wake many.

use super::prelude::*;
use super::unheard_signals::{grouped_audience, seconds};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(30),
    title: "signals that wake many programs",
    rating: Rating::BY_COST,
    needs: Needs::Recipients,
    meaning: "Signals of a kind reach many programs, and come often. Each is copied for, and \
              wakes, every one of them.",
    thresholds: &[
        Threshold::count("recipients of each on average", RECIPIENTS_MIN)
            .source("ten listeners cost twelve context switches for one signal, and more later"),
        Threshold::rate("such signals", 1),
        Threshold::rate("copies of them", COPIES_RATE_MIN),
    ],
    seen: "dconf-service 0.40 sends each change of a setting to 15 programs of a GNOME session, \
           and xdg-desktop-portal sends two SettingChanged for it to 15.",
    advice: "Emit less often, collected; and let listeners narrow their rules by path or argument.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    grouped_audience(lint).iter().filter_map(|signals| check_member(lint, signals)).collect()
}

fn check_member(lint: &LintContext<'_>, signals: &[(CapturedMessage<'_>, u64)]) -> Option<Finding> {
    let first = &signals[0].0;
    let copies: u64 = signals.iter().map(|(_, count)| *count).sum();
    let (count, seconds) = (signals.len() as u64, seconds(lint, first));
    if copies < count * RECIPIENTS_MIN as u64
        || count < seconds
        || copies / seconds < COPIES_RATE_MIN
    {
        return None;
    }
    let bytes = signals.iter().map(|(it, count)| count * u64::from(it.len())).sum();
    let signals: Vec<_> = signals.iter().map(|(signal, _)| *signal).collect();
    Some(
        lint.of_signals(&signals)
            .says(format!(
                "emits {} {count} times, to {} programs each",
                short_name(first),
                copies / count
            ))
            .costs(Cost { wake_ups: copies, bytes, ..Cost::default() }),
    )
}

const RECIPIENTS_MIN: usize = 10;
const COPIES_RATE_MIN: u64 = 50;
