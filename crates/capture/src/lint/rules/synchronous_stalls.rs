//! L20: a program is blocked while it waits for a reply.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(20),
    title: "programs that block during a call",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "While its own call is pending, a program sends nothing and leaves a call from \
              another program unanswered. It answers that call as soon as its own reply arrives. \
              So it waits for replies in its main loop.",
    thresholds: &[
        Threshold::span("duration of its own call", PENDING_MIN),
        Threshold::span("from this reply to its reply to the other call, at most", BURST),
    ],
    example: "xdg-desktop-portal-gnome 43 was blocked for 160 ms in a call of \
              Introspect.GetRunningApplications of gnome-shell, while another call waited for it.",
    advice: "Use the asynchronous call of your library, and continue when the reply arrives.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut waiting: HashMap<_, Vec<CapturedMessage<'_>>> = HashMap::default();
    let shown = lint.calls.iter().filter(|call| !lint.lacks_headers(call.bus()));
    for call in shown.filter(|call| call.expects_reply()) {
        if let Some(peer) = call.to() {
            waiting.entry(peer).or_default().push(*call);
        }
    }
    let found = lint.callers().iter().filter_map(|calls| {
        let incoming = waiting.get(&calls[0].from()?)?;
        check_caller(lint, calls, incoming)
    });
    found.collect()
}

fn check_caller(
    lint: &LintContext<'_>,
    calls: &[CapturedMessage<'_>],
    incoming: &[CapturedMessage<'_>],
) -> Option<Finding> {
    let stalls: Vec<_> = calls
        .iter()
        .enumerate()
        .filter(|(place, call)| {
            let is_silent = calls.get(place + 1).is_none_or(|next| over(call) <= Some(next.at()));
            call.duration() >= Some(PENDING_MIN)
                && is_silent
                && !lint.is_deadlocked(call)
                && held_up(call, incoming).next().is_some()
                && answers_nothing(call, incoming)
        })
        .map(|(_, call)| *call)
        .collect();
    let first = stalls.first()?;
    let others: Vec<_> = stalls.iter().flat_map(|call| held_up(call, incoming)).collect();
    let longest = stalls.iter().filter_map(CapturedMessage::duration).max()?;
    Some(
        Finding::new(lint.party(lint.sender(first)))
            .about(lint.method_of(first))
            .says(format!(
                "was blocked for up to {} in {}, such as {} of {}, while {} waited for it",
                units::span(longest),
                units::counted(stalls.len() as u64, "call"),
                short_name(first),
                lint.callee_label(first),
                units::counted(others.len() as u64, "other call")
            ))
            .confidence(Confidence::Medium)
            .shown_by(&stalls)
            .costs(Cost::of_waiting(&others))
            .query(format!("{} dur>50ms", queries::sent_by(lint, first))),
    )
}

fn over(call: &CapturedMessage<'_>) -> Option<RecordedTime> {
    call.partner().map(|reply| reply.at())
}

/// Calls to a program that arrived while its own `call` was pending and got their replies within
/// [`BURST`] after it ended.
fn held_up<'m, 'c>(
    call: &CapturedMessage<'c>,
    incoming: &'m [CapturedMessage<'c>],
) -> impl Iterator<Item = CapturedMessage<'c>> + use<'m, 'c> {
    let (start, end) = (call.at(), over(call));
    let from = incoming.partition_point(|other| other.at() < start);
    let during = incoming[from..].iter().take_while(move |other| Some(other.at()) < end);
    let held = during.filter(move |other| {
        let after = over(other).zip(end).and_then(|(answered, end)| answered.since(end));
        after.is_some_and(|after| after <= BURST)
    });
    held.copied()
}

/// Returns true if the program sent no reply while its own `call` was pending.
fn answers_nothing(call: &CapturedMessage<'_>, incoming: &[CapturedMessage<'_>]) -> bool {
    let (start, Some(end)) = (call.at(), over(call)) else { return false };
    let first = incoming.partition_point(|other| other.at() < start);
    let from = first.saturating_sub(LOOKED_BACK);
    let near = incoming[from..].iter().take_while(|other| other.at() < end);
    !near.filter_map(over).any(|answered| start < answered && answered < end)
}

const PENDING_MIN: Duration = Duration::from_millis(50);
const BURST: Duration = Duration::from_millis(5);

/// The number of calls from before `call` that are checked for replies during it.
const LOOKED_BACK: usize = 16;
