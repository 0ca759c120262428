//! L16: a program keeps getting the same error.

use super::prelude::*;
use super::probing::is_probe;
use super::timeouts::has_timed_out;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(16),
    title: "repeated errors",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "A program gets the same error from the same method again and again, and keeps \
              calling it. This includes errors that a name has no owner: such a program waits for \
              a service by calling repeatedly. L17 reports errors about missing objects, methods \
              and properties; L54 reports services that failed to start.",
    thresholds: &[
        Threshold::count("errors of one kind", ERRORS_MIN),
        Threshold::span("within", WITHIN),
        Threshold::percent(
            "or, if slower, their share of all calls of the method",
            SHARE_PERCENT as u64,
        ),
    ],
    example: "xfwm4 4.18 calls Xfconf.GetProperty 298 times for properties that are not set and \
              gets PropertyNotFound each time. startplasma-x11 5.27 calls KLauncher.setLaunchEnv \
              of org.kde.klauncher5, a name without an owner, 66 times.",
    advice: "Read the text of the error. Check before you call, or do not ask for something that \
             does not exist. If a name has no owner, watch it: a match rule for NameOwnerChanged \
             with arg0='the.name' reports when it gets one.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.methods().iter().flat_map(|calls| check_method(lint, calls)).collect()
}

fn check_method(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Vec<Finding> {
    let failed: Vec<_> =
        calls.iter().filter(|call| is_plain_failure(lint, call)).copied().collect();
    let with_name = failed.iter().filter_map(|call| {
        let error = call.partner()?;
        Some(((error.member_id(), missing_name(lint, call, &error)?), *call))
    });
    let by_error = collected(with_name);
    let is_storm = |(_, failed): &&(_, Vec<CapturedMessage<'_>>)| {
        failed.len() >= ERRORS_MIN
            && (busiest(failed, WITHIN).len() >= ERRORS_MIN
                || failed.len() * 100 > calls.len() * SHARE_PERCENT)
    };
    let storms = by_error.iter().filter(is_storm);
    storms.filter_map(|((_, name), failed)| report(lint, calls, name, failed)).collect()
}

fn is_plain_failure(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> bool {
    let error = call.partner().filter(|reply| reply.kind() == MessageType::Error);
    error.is_some_and(|error| !is_probe(error.member()))
        && !has_timed_out(call)
        && !lint.lacks_its_service(call)
}

/// The name without an owner that the call asked the bus about: empty for other errors, `None` if
/// the recording does not show it. Calls about different names do not count as repetitions.
fn missing_name(
    lint: &LintContext<'_>,
    call: &CapturedMessage<'_>,
    error: &CapturedMessage<'_>,
) -> Option<String> {
    match call.is_driver_traffic() && NO_OWNER.contains(&error.member()) {
        true => lint.texts(call).into_iter().next(),
        false => Some(String::new()),
    }
}

fn report(
    lint: &LintContext<'_>,
    calls: &[CapturedMessage<'_>],
    name: &str,
    failed: &[CapturedMessage<'_>],
) -> Option<Finding> {
    let first = &failed[0];
    let error = first.partner()?.member();
    let (subject, about, query) = match name {
        "" => (String::new(), String::new(), String::new()),
        name => (format!(" {name}"), format!(" about {name}"), format!(" arg0:{name}")),
    };
    Some(
        lint.of_calls(failed)
            .about(format!("{} {error}{subject}", lint.method_of(first)))
            .says(format!(
                "got {error} from {} for {} of {} calls of {}{about}",
                lint.callee_label(first),
                failed.len(),
                calls.len(),
                short_name(first)
            ))
            .query(format!("{} error:{error}{query}", queries::calls(lint, first))),
    )
}

const NO_OWNER: [&str; 2] =
    ["org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"];
const ERRORS_MIN: usize = 10;
const WITHIN: Duration = Duration::from_secs(10);
const SHARE_PERCENT: usize = 5;
