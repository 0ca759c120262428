//! L19: methods that take long.

use super::prelude::*;
use super::timeouts::has_timed_out;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(19),
    title: "slow methods",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A method takes long to answer. A program that waits for the answer in its main loop \
              stands still, and a person notices. Methods that ask a person something are left out, \
              and so are calls that waited for a service to start.",
    thresholds: &[
        Threshold::span("95 of 100 calls take up to (as p95 of stats)", TYPICAL)
            .source("people notice the wait"),
        Threshold::count("calls, for that to be typical", CALLS_MIN),
        Threshold::span("or the slowest takes", SLOWEST),
    ],
    seen: "gvfsd-smb-browse 1.50 takes 8 s for Mountable.Mount where there is no network, and \
           gvfsd answers MountTracker.LookupMount after 8.5 s.",
    advice: "Reply asynchronously from the worker, so that the service stays responsive; cache \
             what is asked often; do not read files or wait for devices in the main loop.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let answered = lint.calls.iter().filter(|call| is_service_time(lint, call));
    let by_method = lint.by_method(answered);
    by_method.iter().filter_map(|calls| check_method(lint, calls)).collect()
}

/// Whether the duration of a call is the time of the service, and nothing else.
fn is_service_time(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> bool {
    let asks = ASKING.contains(&call.member());
    call.partner().is_some()
        && !asks
        && !call.is_driver_traffic()
        && !call.partner().is_some_and(|reply| reply.is_driver_traffic())
        && !has_timed_out(call)
        && !lint.is_deadlocked(call)
        && (call.destination().starts_with(':') || !lint.hides_owners(call.bus()))
        && call.waited_for_start().is_none()
}

fn check_method(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let durations = percentiles(calls.iter().filter_map(CapturedMessage::duration))?;
    let (typical, slowest) = (durations.p95, durations.max);
    if slowest < SLOWEST && (typical < TYPICAL || calls.len() < CALLS_MIN) {
        return None;
    }
    let slow: Vec<_> =
        calls.iter().filter(|call| call.duration() >= Some(TYPICAL)).copied().collect();
    let finding = lint.of_callee(calls).says(format!(
        "{}; {} of {} took {} or more",
        how_long(calls, typical, slowest),
        slow.len(),
        units::counted(calls.len() as u64, "call"),
        units::span(TYPICAL)
    ));
    Some(finding.shown_by(&slow).costs(Cost::of_waiting(&slow)).selecting("dur>100ms"))
}

/// How long calls take. Few calls have no slowest twentieth.
fn how_long(calls: &[CapturedMessage<'_>], typical: Duration, slowest: Duration) -> String {
    let (typical, slowest) = (units::span(typical), units::span(slowest));
    let name = short_name(&calls[0]);
    match calls.len() {
        ..TWENTIETH => format!("takes up to {slowest} for {name}"),
        _ => format!(
            "takes up to {typical} for 95 % of the calls of {name}, {slowest} for the slowest"
        ),
    }
}

/// Of so many calls, one is the slowest twentieth.
const TWENTIETH: usize = 20;

const TYPICAL: Duration = Duration::from_millis(100);
const SLOWEST: Duration = Duration::from_secs(1);
const CALLS_MIN: usize = 3;

/// Methods that answer when a person has decided, or when something comes to an end.
const ASKING: [&str; 6] =
    ["CheckAuthorization", "BeginAuthentication", "Prompt", "Unlock", "WaitForExit", "Monitor"];
