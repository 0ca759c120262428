//! L14: the service leaves while a call is under way.

use super::prelude::*;
use crate::model::CallOutcome;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(14),
    title: "calls lost because the service left",
    rating: Rating::Always(FindingSeverity::High),
    needs: Needs::Messages,
    meaning: "A service has left the bus, by ending or by crashing, while a program waited for its \
              reply. The bus replies in its place with NoReply, if it replies at all. Calls whose \
              caller left before are not counted.",
    thresholds: &[Threshold::count("calls under way when a service left", 1)],
    seen: "xdg-document-portal 1.16 could not mount its file system and exited, while \
           xdg-desktop-portal waited for its reply to Documents.GetMountPoint.",
    advice: "In the service: answer what is under way before the connection is closed. In the \
             caller: take NoReply as \"ask again when the name is back\".",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let lost = lint.calls.iter().filter(|call| is_lost(lint, call));
    // A service that comes back has another connection each time.
    let by_service = grouped(lost, |call| (call.bus(), lint.callee_label(call)));
    by_service.iter().map(|calls| report(lint, calls)).collect()
}

/// Whether the callee left while the caller waited. A caller that left before has lost nothing.
pub(super) fn is_lost(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> bool {
    let left = call.to().and_then(|peer| lint.capture.directory().peer(peer).left);
    let left = left.filter(|&left| left >= call.at());
    match call.outcome() {
        Some(CallOutcome::CalleeLeft) => call.expects_reply(),
        Some(CallOutcome::Waiting) => left.is_some() && lint.shows_replies(call),
        // The bus may reply a moment before it says that the callee has left.
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
    Finding::new(lint.who(lint.callee(first)))
        .about("left")
        .says(format!(
            "left the bus{times} with {} unanswered, first {} by {}",
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.sender_label(first)
        ))
        .shown_by(calls)
        .costs(Cost { calls: calls.len() as u64, ..Cost::of_waiting(calls) })
        .query(format!(
            "{} (is:unanswered or error:*NoReply)",
            queries::term("to", &lint.who(lint.callee(first)))
        ))
}

/// The bus replies in the place of a callee that left as soon as it sees that.
const TOGETHER: Duration = Duration::from_millis(100);
