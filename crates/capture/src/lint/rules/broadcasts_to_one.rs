//! L29: signals to all that only one hears.

use super::prelude::*;
use super::unheard_signals::grouped_audience;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(29),
    title: "broadcasts that one program hears",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::Recipients,
    meaning: "Each signal of a kind reached exactly one program. If it is meant for that one, the \
              bus need not look for others, and others need not be able to hear it.",
    thresholds: &[Threshold::count("signals, each with one recipient", SIGNALS_MIN)],
    seen: "PackageKit 1.2.6 broadcasts PropertiesChanged of its transactions 223 times, each \
           time to the single program that made the transaction.",
    advice: "If it is for whoever asked, send it to that connection, or answer the call with it.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let heard = grouped_audience(lint);
    let is_to_one = |(signal, count): &(CapturedMessage<'_>, u64)| {
        *count == 1 && signal.destination_id().is_none()
    };
    let to_one = heard.iter().filter(|it| it.len() >= SIGNALS_MIN && it.iter().all(is_to_one));
    to_one.map(|signals| report(lint, signals)).collect()
}

fn report(lint: &LintContext<'_>, signals: &[(CapturedMessage<'_>, u64)]) -> Finding {
    let signals: Vec<_> = signals.iter().map(|(signal, _)| *signal).collect();
    let finding = lint.of_signals(&signals).says(format!(
        "broadcasts {} {} times, each time to a single program",
        short_name(&signals[0]),
        signals.len()
    ));
    finding.confidence(Confidence::Low).costs(Cost::default())
}

const SIGNALS_MIN: usize = 20;
