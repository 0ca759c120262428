//! L38: services that take a long time to connect.

use super::prelude::*;
use crate::activation::ServiceStart;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(38),
    title: "services that start slowly",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A call waited because its service was not running and had to be started. The wait is \
              counted from the call until the service connected.",
    thresholds: &[Threshold::span("from the call to the connection", LATE)],
    example: "xdg-desktop-portal-gnome 43 took 967 ms to connect, and a StartServiceByName call of \
              xdg-desktop-portal waited for it.",
    advice: "Do less work before the service connects. If it is always needed, start it earlier \
             (Type=dbus and WantedBy); otherwise call it later.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let waited = lint.calls.iter().filter_map(|call| {
        let start = call.waited_for_start().filter(|start| start.until_connected() >= LATE)?;
        Some(((call.bus(), call.wanted_name()?), (*call, start)))
    });
    collected(waited).iter().map(|((_, name), calls)| report(lint, name, calls)).collect()
}

fn report(
    lint: &LintContext<'_>,
    name: &str,
    waits: &[(CapturedMessage<'_>, ServiceStart)],
) -> Finding {
    let calls: Vec<_> = waits.iter().map(|(call, _)| *call).collect();
    let until_connected = || waits.iter().map(|(_, start)| start.until_connected());
    let (first, start) = &waits[0];
    Finding::new(lint.party(TrafficParty::Peer(start.service)))
        .about("start")
        .says(format!(
            "took {} to connect, and {} waited, first {} by {}",
            units::span(until_connected().max().unwrap_or_default()),
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.sender_label(first)
        ))
        .shown_by(&calls)
        .costs(Cost::of_waits(until_connected()))
        .query(queries::waits_for(name, first, LATE_TEXT))
}

/// [`LATE`], as queries write it.
const LATE_TEXT: &str = "200ms";
const LATE: Duration = Duration::from_millis(200);
