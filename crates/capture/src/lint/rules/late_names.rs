//! L39: services that are there and have no name yet.

use super::late_services::waited_for_start;
use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(39),
    title: "names taken late",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A service was connected, and took its name only later, while calls to the name \
              waited.",
    thresholds: &[Threshold::span("from the connection to the name, with a call waiting", LATE)],
    advice: "Register the objects, take the name, and do slow work after that; answer what needs \
             the slow work when it is done.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let waited = lint
        .calls
        .iter()
        .filter(|call| waited_for_start(lint, call).is_some_and(|it| it.until_owned >= LATE));
    let by_service = grouped(waited, |call| (call.bus(), call.destination_id()));
    by_service.iter().map(|calls| report(lint, calls)).collect()
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let waits: Vec<_> = calls
        .iter()
        .filter_map(|call| waited_for_start(lint, call))
        .map(|start| start.until_owned)
        .collect();
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about(first.destination())
        .says(format!(
            "took the name {} {} after it had connected, and {} waited",
            first.destination(),
            units::span(waits.iter().max().copied().unwrap_or_default()),
            units::counted(calls.len() as u64, "call")
        ))
        .shown_by(calls)
        .costs(Cost { waited: waits.iter().sum(), ..Cost::default() })
        .query(format!("to:{} dur>500ms", first.destination()))
}

const LATE: Duration = Duration::from_millis(500);
