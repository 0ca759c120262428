//! L29: broadcast signals that always have one recipient.

use super::prelude::*;
use super::signals_without_recipients::grouped_audience;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(29),
    title: "broadcasts with one recipient",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::Recipients,
    meaning: "Each signal of a kind reached exactly one program. If it is meant for that program \
              only, a unicast signal saves the bus the search for recipients, and no other program \
              can receive it.",
    thresholds: &[Threshold::count("signals, each with one recipient", SIGNALS_MIN)],
    example: "PackageKit 1.2.6 broadcasts PropertiesChanged of its transactions 223 times, each \
              time to the single program that created the transaction.",
    advice: "If the signal is meant for the caller of a method, send it to that connection, or \
             return its content in the reply.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let counted = grouped_audience(lint);
    let is_to_one = |(signal, count): &(CapturedMessage<'_>, u64)| {
        *count == 1 && signal.destination_id().is_none()
    };
    let to_one = counted.iter().filter(|it| it.len() >= SIGNALS_MIN && it.iter().all(is_to_one));
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
