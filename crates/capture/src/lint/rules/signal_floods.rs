//! L22: signals at a rate that nobody needs.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(22),
    title: "floods of signals",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A service emits the same signal at a high rate, or in great bursts. Every listener \
              is woken for each, and reads far more than it can show.",
    thresholds: &[
        Threshold::rate("such signals, sustained", RATE_MIN as u64),
        Threshold::span("over at least", SUSTAINED),
        Threshold::count("or signals in a burst", BURST_MIN),
        Threshold::span("of at most", BURST),
    ],
    advice: "Collect changes and emit them once per turn of the main loop, or once per tenth of a \
             second; one PropertiesChanged may carry many properties. Values that change all the \
             time should not be announced: EmitsChangedSignal=false.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let broadcast = lint.emissions().iter().filter(|signals| signals[0].destination_id().is_none());
    broadcast.filter_map(|signals| check_member(lint, signals)).collect()
}

fn check_member(lint: &Context<'_>, signals: &[Message<'_>]) -> Option<Finding> {
    let sustained = busiest(signals, SUSTAINED).len();
    let burst = busiest(signals, BURST).len();
    let is_flood = sustained >= RATE_MIN * SUSTAINED.as_secs() as usize;
    if !is_flood && burst < BURST_MIN {
        return None;
    }
    let first = &signals[0];
    let objects: HashSet<_> = signals.iter().map(Message::path_id).collect();
    let pace = match is_flood {
        true => format!("up to {}", units::rate(sustained, SUSTAINED)),
        false => format!("{burst} in one second"),
    };
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about(first.full_member())
            .says(format!(
                "emits {} {pace}, {} in all, from {}",
                short_name(first),
                units::grouped(signals.len() as u64),
                units::counted(objects.len() as u64, "object")
            ))
            .shown_by(signals)
            .costs(Cost::of_signals(signals))
            .query(queries::signals(lint, first)),
    )
}

const RATE_MIN: usize = 10;
const SUSTAINED: Duration = Duration::from_secs(5);
const BURST_MIN: usize = 100;
const BURST: Duration = Duration::from_secs(1);
