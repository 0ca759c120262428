//! L30: frequent signals with many recipients.

use super::prelude::*;
use super::signals_without_recipients::{grouped_audience, seconds};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(30),
    title: "broadcasts with many recipients",
    rating: Rating::BY_COST,
    needs: Needs::Recipients,
    meaning: "Frequent signals reach many programs. The bus copies each signal for every \
              recipient, and each copy wakes a program.",
    thresholds: &[
        Threshold::count("recipients of a signal, on average", RECIPIENTS_MIN)
            .source("ten recipients cost twelve context switches for one signal, and more later"),
        Threshold::rate("rate of such signals", 1),
        Threshold::rate("rate of copies of these signals", COPIES_RATE_MIN),
    ],
    example: "dconf-service 0.40 sends each change of a setting to 15 programs of a GNOME session, \
              and for each change xdg-desktop-portal sends two SettingChanged signals to 15 \
              programs.",
    advice: "Combine changes and emit less often. In the subscribers, narrow the match rules by \
             path or argument.",
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
