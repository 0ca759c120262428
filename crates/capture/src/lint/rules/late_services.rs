//! L38: services that take long to come.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(38),
    title: "services that start slowly",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A call waited because its service was not there yet and had to be started. The time \
              is that from the call until the service connected.",
    thresholds: &[Threshold::span("from the call to the connection", LATE)],
    advice: "Do less before connecting; start it earlier if it is always needed (Type=dbus and \
             WantedBy), or ask for it later.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let waited = lint.calls.iter().filter(|call| {
        waited_for_start(lint, call).is_some_and(|start| start.until_connected() >= LATE)
    });
    let by_service = grouped(waited, |call| (call.bus(), call.destination_id()));
    by_service.iter().map(|calls| report(lint, calls)).collect()
}

/// What a call waited for whose service was not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The connection of the service.
    pub(super) service: PeerId,
    /// When the call was sent.
    pub(super) called: Time,
    /// When the service connected; when it took the name, if that is unknown.
    pub(super) connected: Time,
    /// When it owned the name.
    pub(super) owned: Time,
}

impl Start {
    /// From the call to the connection of the service.
    pub(super) fn until_connected(&self) -> Duration {
        self.connected.since(self.called).unwrap_or_default()
    }
}

/// Whether a call waited for its service to start.
pub(super) fn waited_for_start(lint: &Context<'_>, call: &Message<'_>) -> Option<Start> {
    let over = call.at().after(call.waited()?);
    let directory = lint.capture.directory();
    let all = directory.ownerships(call.bus(), call.destination_id());
    let next = all.iter().find(|it| it.since.is_some_and(|at| call.at() < at && at <= over))?;
    let was_owned = all.iter().any(|one| {
        one.since.is_none_or(|since| since <= call.at())
            && one.until.is_none_or(|until| until > call.at())
    });
    let owned = next.since.filter(|_| !was_owned)?;
    let connected = directory.peer(next.owner).arrived.unwrap_or(owned).min(owned);
    Some(Start { service: next.owner, called: call.at(), connected, owned })
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let waits: Vec<_> = calls
        .iter()
        .filter_map(|call| waited_for_start(lint, call))
        .map(|start| start.until_connected())
        .collect();
    let longest = waits.iter().max().copied().unwrap_or_default();
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about("start")
        .says(format!(
            "took {} to connect, and {} waited, first {} by {}",
            units::span(longest),
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.who(lint.sender(first)).label
        ))
        .shown_by(calls)
        .costs(Cost::of_waits(waits))
        .query(format!("to:{} dur>200ms", first.destination()))
}

const LATE: Duration = Duration::from_millis(200);
