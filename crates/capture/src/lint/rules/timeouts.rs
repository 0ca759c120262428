//! L15: calls that ended when a time-out did.

use super::calls_lost_to_leaving::is_lost;
use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(15),
    title: "calls that timed out",
    severity: Severity::High,
    needs: Needs::Messages,
    meaning: "A call ended in an error just when a usual time-out was over: nobody answered, and \
              the caller had nothing all that time.",
    thresholds: &[
        Threshold::span("a call that ended in an error took", TIMEOUTS[0])
            .source("the default of libdbus, GDBus and sd-bus"),
        Threshold::span("or", TIMEOUTS[1]).source("a usual choice of programs"),
        Threshold::span("or", TIMEOUTS[2]).source("a usual choice for starting services"),
        Threshold::span("each give or take", TOLERANCE),
    ],
    advice: "Find out why the service does not answer. In the caller, set a shorter time-out for \
             what answers at once, and do not wait in the main loop.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let timed_out = lint.calls.iter().filter(|call| has_timed_out(call));
    let timed_out = timed_out.filter(|call| !is_lost(lint, call) && !lint.is_deadlocked(call));
    let by_method =
        grouped(timed_out, |call| (lint.callee(call), call.interface_id(), call.member_id()));
    by_method.iter().map(|calls| report(lint, calls)).collect()
}

pub(super) fn has_timed_out(call: &Message<'_>) -> bool {
    let failed = call.partner().is_some_and(|reply| reply.kind() == MessageType::Error);
    let is_near = |span: Duration| TIMEOUTS.iter().any(|it| span.abs_diff(*it) <= TOLERANCE);
    failed && call.duration().is_some_and(is_near)
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about(first.full_member())
        .says(format!(
            "left {} of {} to time out after {}, first by {}",
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            units::span(first.duration().unwrap_or_default()),
            lint.who(lint.sender(first)).label
        ))
        .shown_by(calls)
        .costs(Cost::of_waiting(calls))
        .query(format!("{} dur>24s", queries::calls_to(lint, first)))
}

const TIMEOUTS: [Duration; 3] =
    [Duration::from_secs(25), Duration::from_secs(30), Duration::from_secs(120)];
const TOLERANCE: Duration = Duration::from_millis(500);
