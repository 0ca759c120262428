//! L39: services that are there and have no name yet.

use super::late_services::{Start, waited_for_start};
use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(39),
    title: "names taken late",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A service connected, and took its name only later, while calls to the name waited. \
              Time in which it waited for other services to start is not counted: those are \
              reported themselves.",
    thresholds: &[Threshold::span("from the connection to the name, with a call waiting", LATE)],
    advice: "Register the objects, take the name, and do slow work after that; answer what needs \
             the slow work when it is done.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let starts = lint.calls.iter().filter_map(|call| Some((*call, waited_for_start(lint, call)?)));
    let starts: Vec<_> = starts.collect();
    let mut waits: HashMap<PeerId, Vec<Start>> = HashMap::new();
    for (call, start) in &starts {
        waits.entry(call.from().unwrap_or(start.service)).or_default().push(*start);
    }
    let late = starts.iter().filter_map(|(call, start)| {
        let own = own_time(start, waits.get(&start.service).map_or(&[], Vec::as_slice));
        (own >= LATE).then_some(((call.bus(), call.destination_id()), (*call, own)))
    });
    collected(late).iter().map(|(_, calls)| report(lint, calls)).collect()
}

/// How long a service took from its connection, or from the call if that came later, until it had the
/// name, without the time in which it waited for other services to start itself.
fn own_time(start: &Start, own_waits: &[Start]) -> Duration {
    let mut from = start.connected.max(start.called);
    let mut own = Duration::ZERO;
    // In the order of the calls.
    for wait in own_waits.iter().filter(|wait| wait.called < start.owned) {
        own += wait.called.since(from).unwrap_or_default();
        from = from.max(wait.owned);
    }
    own + start.owned.since(from).unwrap_or_default()
}

fn report(lint: &Context<'_>, late: &[(Message<'_>, Duration)]) -> Finding {
    let calls: Vec<_> = late.iter().map(|(call, _)| *call).collect();
    let waits = late.iter().map(|(_, own)| *own);
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about(first.destination())
        .says(format!(
            "took the name {} {} after it had connected, and {} waited",
            first.destination(),
            units::span(waits.clone().max().unwrap_or_default()),
            units::counted(calls.len() as u64, "call")
        ))
        .shown_by(&calls)
        .costs(Cost::of_waits(waits))
        .query(format!("to:{} dur>500ms", first.destination()))
}

const LATE: Duration = Duration::from_millis(500);
