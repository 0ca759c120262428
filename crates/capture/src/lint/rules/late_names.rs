//! L39: services that are there and have no name yet.

use super::prelude::*;
use crate::activation::ServiceStart;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(39),
    title: "names taken late",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A service connected, and took its name only later, while calls to the name waited. \
              Time in which it waited for other services to start is not counted: those are \
              reported themselves.",
    thresholds: &[Threshold::span("from the connection to the name, with a call waiting", LATE)],
    seen: "xdg-desktop-portal 1.16 took the name org.freedesktop.portal.Desktop 1.8 s after it \
           had connected, while a call waited.",
    advice: "Register the objects, take the name, and do slow work after that; answer what needs \
             the slow work when it is done.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let starts = lint.calls.iter().filter_map(|call| Some((*call, call.waited_for_start()?)));
    let starts: Vec<_> = starts.collect();
    let mut waits: HashMap<RecordedPeerId, Vec<ServiceStart>> = HashMap::new();
    for (call, start) in &starts {
        waits.entry(call.from().unwrap_or(start.service)).or_default().push(*start);
    }
    let late = starts.iter().filter_map(|(call, start)| {
        let own = own_time(start, waits.get(&start.service).map_or(&[], Vec::as_slice));
        let name = call.wanted_name().filter(|_| own >= LATE)?;
        Some(((call.bus(), name), (*call, start.service, own)))
    });
    collected(late).iter().map(|((_, name), calls)| report(lint, name, calls)).collect()
}

/// How long a service took from its connection, or from the call if that came later, until it had the
/// name, without the time in which it waited for other services to start itself.
fn own_time(start: &ServiceStart, own_waits: &[ServiceStart]) -> Duration {
    let mut from = start.connected.max(start.called);
    let mut own = Duration::ZERO;
    // In the order of the calls.
    for wait in own_waits.iter().filter(|wait| wait.called < start.owned) {
        own += wait.called.since(from).unwrap_or_default();
        from = from.max(wait.owned);
    }
    own + start.owned.since(from).unwrap_or_default()
}

fn report(
    lint: &LintContext<'_>,
    name: &str,
    late: &[(CapturedMessage<'_>, RecordedPeerId, Duration)],
) -> Finding {
    let calls: Vec<_> = late.iter().map(|(call, ..)| *call).collect();
    let waits = late.iter().map(|(.., own)| *own);
    let (first, service, _) = late[0];
    Finding::new(lint.who(TrafficParty::Peer(service)))
        .about(name)
        .says(format!(
            "took the name {name} {} after it had connected, and {} waited",
            units::span(waits.clone().max().unwrap_or_default()),
            units::counted(calls.len() as u64, "call")
        ))
        .shown_by(&calls)
        .costs(Cost::of_waits(waits))
        .query(queries::waits_for(name, &first, LATE_TEXT))
}

/// [`LATE`] in queries.
const LATE_TEXT: &str = "500ms";
const LATE: Duration = Duration::from_millis(500);
