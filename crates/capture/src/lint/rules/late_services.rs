//! L38: services that take long to come.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(38),
    title: "services that start slowly",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A call waited because its service was not there yet and had to be started. The time \
              is that from the call until the service connected.",
    thresholds: &[
        Threshold::span("from the call to the connection", LATE),
        Threshold::span("to be high", LATE_HIGH),
    ],
    advice: "Do less before connecting; start it earlier if it is always needed (Type=dbus and \
             WantedBy), or ask for it later.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let waited = lint.calls.iter().filter(|call| {
        waited_for_start(lint, call).is_some_and(|start| start.until_connected >= LATE)
    });
    let by_service = grouped(waited, |call| (call.bus(), call.destination_id()));
    by_service.iter().map(|calls| report(lint, calls)).collect()
}

/// What a call waited for whose service was not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// From the call to the connection of the service; up to its name, if it is not known when it
    /// came.
    pub(super) until_connected: Duration,
    /// From there until it owned the name.
    pub(super) until_owned: Duration,
}

/// Whether a call waited for its service to start, and how long.
pub(super) fn waited_for_start(lint: &Context<'_>, call: &Message<'_>) -> Option<Start> {
    let over = call.partner().map_or(lint.span(call.bus()).last, |reply| reply.at());
    let directory = lint.capture.directory();
    let all = directory.ownerships(call.bus(), call.destination_id());
    let next = all.iter().find(|it| it.since.is_some_and(|at| call.at() < at && at <= over))?;
    let was_owned = all.iter().any(|one| {
        one.since.is_none_or(|since| since <= call.at())
            && one.until.is_none_or(|until| until > call.at())
    });
    let owned = next.since.filter(|_| !was_owned)?;
    let connected = directory.peer(next.owner).arrived.unwrap_or(owned).min(owned);
    Some(Start {
        until_connected: connected.since(call.at()).unwrap_or_default(),
        until_owned: owned.since(connected.max(call.at())).unwrap_or_default(),
    })
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let waits: Vec<_> = calls
        .iter()
        .filter_map(|call| waited_for_start(lint, call))
        .map(|start| start.until_connected)
        .collect();
    let longest = waits.iter().max().copied().unwrap_or_default();
    let first = &calls[0];
    let severity = if longest >= LATE_HIGH { Severity::High } else { Severity::Med };
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about("start")
        .says(format!(
            "took {} to connect, and {} waited, first {} by {}",
            units::span(longest),
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.who(lint.sender(first)).label
        ))
        .severity(severity)
        .shown_by(calls)
        .costs(Cost { waited: waits.iter().sum(), ..Cost::default() })
        .query(format!("to:{} dur>200ms", first.destination()))
}

const LATE: Duration = Duration::from_millis(200);
const LATE_HIGH: Duration = Duration::from_secs(1);
