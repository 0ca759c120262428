//! L13: calls that get no reply.

use super::prelude::*;
use crate::model::CallOutcome;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(13),
    title: "unanswered calls",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A call expects a reply and has none when the recording ends, although caller and \
              callee are both still connected. The caller keeps waiting, or gives up after 25 \
              seconds, as most libraries do.",
    thresholds: &[Threshold::span("age of the call when the recording ends", PENDING_MIN)],
    example: "cups-browsed 1.28 calls Properties.GetAll of /org/cups/cupsd/Notifier without a \
              destination, and no connection has replied after two minutes.",
    advice: "Reply to every call exactly once, with an error if necessary. Check that every code \
             path sends a reply. A method that never replies should have the annotation \
             org.freedesktop.DBus.Method.NoReply in its introspection data.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let open = lint.calls.iter().filter(|call| waited(lint, call) >= PENDING_MIN);
    let by_method = lint.by_method(open);
    by_method.iter().map(|calls| report(lint, calls)).collect()
}

/// The wait of a call whose caller and callee are both connected when the recording ends; otherwise
/// zero.
fn waited(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> Duration {
    let callee_left = call.to().and_then(|peer| lint.capture.directory().peer(peer).left);
    let is_open = call.outcome() == Some(CallOutcome::Waiting) && lint.shows_replies(call);
    if !is_open || callee_left.is_some() || lint.is_deadlocked(call) || lint.lacks_its_service(call)
    {
        return Duration::ZERO;
    }
    call.waited().unwrap_or_default()
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let longest = calls.iter().map(|call| waited(lint, call)).max().unwrap_or_default();
    let has_gap = lint.capture.gaps().iter().any(|gap| gap.bus == first.bus());
    lint.of_callee(calls)
        .says(format!(
            "has not replied to {} of {}, first by {}; one has waited {}",
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.sender_label(first),
            units::span(longest)
        ))
        .confidence(if has_gap { Confidence::Low } else { Confidence::High })
        .costs(Cost::of_waits(calls.iter().map(|call| waited(lint, call).min(GIVES_UP))))
        .selecting("is:unanswered")
}

const PENDING_MIN: Duration = Duration::from_secs(5);

/// The default timeout of libdbus, GDBus and sd-bus. No caller waits longer.
const GIVES_UP: Duration = Duration::from_secs(25);
