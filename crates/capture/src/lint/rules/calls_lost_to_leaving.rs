//! L14: a service disconnects while a call is pending.

use super::prelude::*;
use crate::model::CallOutcome;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(14),
    title: "calls lost because the service disconnected",
    rating: Rating::Always(FindingSeverity::High),
    needs: Needs::Messages,
    meaning: "A service disconnected, by exiting or crashing, while a program waited for its \
              reply. The bus replies in its place with the error NoReply, if it replies. A call is \
              not counted if its caller disconnected first.",
    thresholds: &[Threshold::count("pending calls when a service disconnected", 1)],
    example: "xdg-document-portal 1.16 could not mount its file system and exited, while \
              xdg-desktop-portal waited for its reply to Documents.GetMountPoint.",
    advice: "In the service: reply to pending calls before you close the connection. In the \
             caller: after NoReply, call again when the name has an owner again.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let lost = lint.calls.iter().filter(|call| is_lost(lint, call));
    // A service that reconnects has another connection each time.
    let by_service = grouped(lost, |call| (call.bus(), lint.callee_label(call)));
    by_service.iter().map(|calls| report(lint, calls)).collect()
}

/// Returns true if the callee disconnected while the caller waited. A caller that disconnected
/// first has lost nothing.
pub(super) fn is_lost(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> bool {
    let left = call.to().and_then(|peer| lint.capture.directory().peer(peer).left);
    let left = left.filter(|&left| left >= call.at());
    match call.outcome() {
        Some(CallOutcome::CalleeLeft) => call.expects_reply(),
        Some(CallOutcome::Waiting) => left.is_some() && lint.shows_replies(call),
        // The bus may reply a moment before it announces that the callee has disconnected.
        Some(CallOutcome::TimedOut) => call.partner().zip(left).is_some_and(|(reply, left)| {
            left.max(reply.at()).since(left.min(reply.at())).is_some_and(|apart| apart <= TOGETHER)
        }),
        _ => false,
    }
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let connections: HashSet<_> = calls.iter().map(|call| lint.callee(call)).collect();
    let times = match connections.len() {
        1 => String::new(),
        times => format!(" {}", units::counted(times as u64, "time")),
    };
    Finding::new(lint.party(lint.callee(first)))
        .about("left")
        .says(format!(
            "disconnected{times} with {}, first {} by {}",
            units::counted(calls.len() as u64, "pending call"),
            short_name(first),
            lint.sender_label(first)
        ))
        .shown_by(calls)
        .costs(Cost { calls: calls.len() as u64, ..Cost::of_waiting(calls) })
        .query(format!(
            "{} (is:unanswered or error:*NoReply)",
            queries::term("to", &lint.party(lint.callee(first)))
        ))
}

/// The longest time between the error of the bus and the announcement that the callee has
/// disconnected.
const TOGETHER: Duration = Duration::from_millis(100);
