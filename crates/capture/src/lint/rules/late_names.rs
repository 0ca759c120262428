//! L39: services that acquire their names long after they connect.

use super::prelude::*;
use crate::activation::ServiceStart;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(39),
    title: "names acquired late",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A service connected but acquired its name only later, while calls to the name \
              waited. Time in which the service waited for other services to start is not counted; \
              these services get findings of their own.",
    thresholds: &[Threshold::span("from connecting to the name, while a call waits", LATE)],
    example: "xdg-desktop-portal 1.16 acquired the name org.freedesktop.portal.Desktop 1.8 s after \
              it had connected, while a call waited.",
    advice: "Register the objects, request the name, and do slow work after that. Hold back only \
             the replies that depend on the slow work.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let starts = lint.calls.iter().filter_map(|call| Some((*call, call.waited_for_start()?)));
    let starts: Vec<_> = starts.collect();
    let mut waits: HashMap<RecordedPeerId, Vec<ServiceStart>> = HashMap::default();
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

/// The time from the connection of a service, or from the call if it came later, until the service
/// owned the name, without the time in which it waited for other services to start.
fn own_time(start: &ServiceStart, own_waits: &[ServiceStart]) -> Duration {
    let mut from = start.connected.max(start.called);
    let mut own = Duration::ZERO;
    // The waits are sorted by the times of their calls.
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
    Finding::new(lint.party(TrafficParty::Peer(service)))
        .about(name)
        .says(format!(
            "acquired the name {name} {} after it had connected, and {} waited",
            units::span(waits.clone().max().unwrap_or_default()),
            units::counted(calls.len() as u64, "call")
        ))
        .shown_by(&calls)
        .costs(Cost::of_waits(waits))
        .query(queries::waits_for(name, &first, LATE_TEXT))
}

/// [`LATE`], as queries write it.
const LATE_TEXT: &str = "500ms";
const LATE: Duration = Duration::from_millis(500);
