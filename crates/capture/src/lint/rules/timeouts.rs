//! L15: calls that timed out, or whose callers gave up.

use super::calls_lost_to_leaving::is_lost;
use super::prelude::*;
use crate::model::{CallOutcome, Health};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(15),
    title: "calls that timed out",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A call timed out at the bus, or failed just when a common timeout elapsed, or the \
              caller disconnected after waiting for some time. The caller waited in vain for a \
              reply. L54 reports calls to services that did not start.",
    thresholds: &[
        Threshold::span("wait of a caller that disconnected", GAVE_UP_MIN),
        Threshold::span("duration of a call that failed", TIMEOUTS[0])
            .source("the default of libdbus, GDBus and sd-bus"),
        Threshold::span("or", TIMEOUTS[1]).source("a common choice of programs"),
        Threshold::span("or", TIMEOUTS[2]).source("a common choice for the start of services"),
        Threshold::span("with a tolerance of", TOLERANCE),
    ],
    example: "colord 1.4.6, which waited for polkitd itself, had not replied to Properties.GetAll \
              when colormgr gave up after 20 s.",
    advice: "Find out why the service does not reply. In the caller, set a shorter timeout for \
             methods that normally reply at once, and do not wait in the main loop.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let given_up = lint.calls.iter().filter_map(|call| Some((end(lint, call)?, *call)));
    let by_method = collected(given_up.map(|(end, call)| {
        ((end, lint.callee(&call), call.interface_id(), call.member_id()), call)
    }));
    by_method.iter().map(|((end, ..), calls)| report(lint, *end, calls)).collect()
}

/// How a call ended that got no regular reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum UnrepliedEnd {
    TimedOut,
    CallerLeft,
}

fn end(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> Option<UnrepliedEnd> {
    if is_lost(lint, call) || lint.is_deadlocked(call) || lint.lacks_its_service(call) {
        return None;
    }
    if has_timed_out(call) && (failed_after_usual_time_out(call) || shows_cause(lint, call)) {
        return Some(UnrepliedEnd::TimedOut);
    }
    let is_long = call.waited() >= Some(GAVE_UP_MIN);
    let has_left = call.outcome() == Some(CallOutcome::CallerLeft) && lint.shows_replies(call);
    (has_left && is_long).then_some(UnrepliedEnd::CallerLeft)
}

pub(super) fn has_timed_out(call: &CapturedMessage<'_>) -> bool {
    call.outcome() == Some(CallOutcome::TimedOut) || failed_after_usual_time_out(call)
}

fn failed_after_usual_time_out(call: &CapturedMessage<'_>) -> bool {
    let failed = call.partner().is_some_and(|reply| reply.kind() == MessageType::Error);
    let is_near = |span: Duration| TIMEOUTS.iter().any(|it| span.abs_diff(*it) <= TOLERANCE);
    failed && call.duration().is_some_and(is_near)
}

/// Returns true if the recording shows that a call did not fail because its callee disconnected.
fn shows_cause(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> bool {
    !lint.hides_owners(call.bus())
        || call.partner().is_some_and(|reply| reply.health() == Health::Whole)
}

fn report(lint: &LintContext<'_>, end: UnrepliedEnd, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let count = units::counted(calls.len() as u64, "call");
    let (method, caller) = (short_name(first), lint.sender_label(first));
    let waited = units::span(first.waited().unwrap_or_default());
    let says = match (end, calls.len()) {
        (UnrepliedEnd::TimedOut, _) => {
            format!("let {count} of {method} time out after {waited}, first by {caller}")
        }
        (UnrepliedEnd::CallerLeft, 1) => format!(
            "did not reply to {count} of {method} before {caller} disconnected, {waited} after the \
             call"
        ),
        (UnrepliedEnd::CallerLeft, _) => format!(
            "did not reply to {count} of {method} before the callers disconnected, first {caller}, \
             {waited} after the call"
        ),
    };
    let cost = Cost::of_waits(calls.iter().filter_map(CapturedMessage::waited));
    let finding = lint.of_callee(calls).says(says).costs(cost);
    match end {
        UnrepliedEnd::TimedOut => finding.selecting("error:*"),
        UnrepliedEnd::CallerLeft => finding,
    }
}

const TIMEOUTS: [Duration; 3] =
    [Duration::from_secs(25), Duration::from_secs(30), Duration::from_secs(120)];
const TOLERANCE: Duration = Duration::from_millis(500);

/// A caller that does not need the reply sends its call and disconnects in less time.
const GAVE_UP_MIN: Duration = Duration::from_secs(1);
