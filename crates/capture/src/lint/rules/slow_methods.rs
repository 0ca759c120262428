//! L19: methods that take a long time.

use super::prelude::*;
use super::timeouts::has_timed_out;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(19),
    title: "slow methods",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A method takes a long time to reply. A program that waits for the reply in its main \
              loop is blocked, and its user notices. Methods that ask the user a question are not \
              counted. Calls that waited for a service to start are not counted either.",
    thresholds: &[
        Threshold::span("95th percentile of the durations (p95 of stats)", TYPICAL)
            .source("users notice the wait"),
        Threshold::count("number of calls, for the percentile", CALLS_MIN),
        Threshold::span("or duration of the slowest call", SLOWEST),
    ],
    example: "gvfsd-smb-browse 1.50 takes 8 s for Mountable.Mount where there is no network, and \
              gvfsd replies to MountTracker.LookupMount after 8.5 s.",
    advice: "Do slow work in a worker and reply asynchronously, so that the service stays \
             responsive. Cache values that are read often. Do not read files or wait for devices \
             in the main loop.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let answered = lint.calls.iter().filter(|call| is_service_time(lint, call));
    let by_method = lint.by_method(answered);
    by_method.iter().filter_map(|calls| check_method(lint, calls)).collect()
}

/// Returns true if the duration of a call includes only time that the service spent.
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

/// Describes the durations of calls. With fewer than 20 calls, the 95th percentile is the slowest.
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

/// The number of calls from which one is the slowest 5 %.
const TWENTIETH: usize = 20;

const TYPICAL: Duration = Duration::from_millis(100);
const SLOWEST: Duration = Duration::from_secs(1);
const CALLS_MIN: usize = 3;

/// Methods that reply when a user has decided, or when a process or an event has ended.
const ASKING: [&str; 6] =
    ["CheckAuthorization", "BeginAuthentication", "Prompt", "Unlock", "WaitForExit", "Monitor"];
