//! L13: calls that nobody answers.

use super::prelude::*;
use crate::record::Method as Listening;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(13),
    title: "unanswered calls",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A call that wants an answer has got none, although caller and callee are both still \
              there. The caller waits, or gives up after 25 seconds as most libraries do.",
    thresholds: &[
        Threshold::span("a call has waited when the recording ends", PENDING_MIN),
        Threshold::span("to be high", PENDING_HIGH)
            .source("the time after which libdbus, GDBus and sd-bus give up"),
    ],
    advice: "Answer every call exactly once, with an error if need be; check that no code path \
             forgets it. A method that answers nobody should say so in its introspection.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let open = lint.calls.iter().filter(|call| waited(lint, call) >= PENDING_MIN);
    let by_method =
        grouped(open, |call| (lint.callee(call), call.interface_id(), call.member_id()));
    by_method.iter().map(|calls| report(lint, calls)).collect()
}

/// How long a call has been without an answer that should have one.
fn waited(lint: &Context<'_>, call: &Message<'_>) -> Duration {
    if !call.expects_reply() || call.partner().is_some() || !shows_replies(lint, call) {
        return Duration::ZERO;
    }
    let left = |peer: Option<PeerId>| peer.and_then(|it| lint.capture.directory().peer(it).left);
    if left(call.to()).is_some() || lint.is_deadlocked(call) {
        return Duration::ZERO;
    }
    let end = lint.span(call.bus()).last;
    let end = left(call.from()).map_or(end, |left| left.min(end));
    end.since(call.at()).unwrap_or_default()
}

/// Whether the answer would be in the recording if there was one, and whether one was wanted is.
fn shows_replies(lint: &Context<'_>, call: &Message<'_>) -> bool {
    if lint.lacks_headers(call.bus()) {
        return false;
    }
    let Some(bus) = lint.capture.buses().get(usize::from(call.bus().0)) else { return true };
    let hides_driver = matches!(bus.method, Listening::Eavesdrop) && call.is_driver_traffic();
    bus.filters.is_empty() && bus.content.is_of_wire() && !hides_driver
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let first = &calls[0];
    let longest = calls.iter().map(|call| waited(lint, call)).max().unwrap_or_default();
    let has_gap = lint.capture.gaps().iter().any(|gap| gap.bus == first.bus());
    let severity = if longest >= PENDING_HIGH { Severity::High } else { Severity::Med };
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about(first.full_member())
        .says(format!(
            "has not answered {} of {}, first by {}; one has waited {}",
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.who(lint.sender(first)).label,
            units::span(longest)
        ))
        .severity(severity)
        .confidence(if has_gap { Confidence::Low } else { Confidence::High })
        .shown_by(calls)
        .costs(Cost {
            waited: calls.iter().map(|call| waited(lint, call).min(PENDING_HIGH)).sum(),
            ..Cost::default()
        })
        .query(format!("{} is:unanswered", queries::calls_to(lint, first)))
}

const PENDING_MIN: Duration = Duration::from_secs(5);
const PENDING_HIGH: Duration = Duration::from_secs(25);
