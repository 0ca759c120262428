//! L16: the same error, over and over.

use super::prelude::*;
use super::probing::is_probe;
use super::retrying_absent_names::is_absent;
use super::timeouts::has_timed_out;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(16),
    title: "the same error over and over",
    rating: Rating::AtLeast(Severity::Med),
    needs: Needs::Messages,
    meaning: "A program gets the same error from the same method again and again, and goes on \
              asking. Errors about what is not there are reported by L17 and L18, failed \
              starts of services by L54.",
    thresholds: &[
        Threshold::count("errors of one kind", ERRORS_MIN),
        Threshold::span("of which so many come within", WITHIN),
        Threshold::percent("or which make up of the answers", SHARE_PERCENT as u64),
    ],
    advice: "Look at the text of the error: check first, or do not ask for what cannot be had.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    lint.methods().iter().flat_map(|calls| check_method(lint, calls)).collect()
}

fn check_method(lint: &Context<'_>, calls: &[Message<'_>]) -> Vec<Finding> {
    let failed: Vec<_> =
        calls.iter().filter(|call| is_plain_failure(lint, call)).copied().collect();
    let by_error = grouped(&failed, |call| call.partner().map(|reply| reply.member_id()));
    let is_storm = |failed: &&Vec<Message<'_>>| {
        failed.len() >= ERRORS_MIN
            && (busiest(failed, WITHIN).len() >= ERRORS_MIN
                || failed.len() * 100 > calls.len() * SHARE_PERCENT)
    };
    by_error.iter().filter(is_storm).filter_map(|failed| report(lint, calls, failed)).collect()
}

fn is_plain_failure(lint: &Context<'_>, call: &Message<'_>) -> bool {
    let error = call.partner().filter(|reply| reply.kind() == MessageType::Error);
    error.is_some_and(|error| !is_probe(error.member()) && !is_absent(error.member()))
        && !has_timed_out(call)
        && !lint.lacks_its_service(call)
}

fn report(lint: &Context<'_>, calls: &[Message<'_>], failed: &[Message<'_>]) -> Option<Finding> {
    let first = &failed[0];
    let error = first.partner()?.member();
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about(format!("{} {} {error}", lint.callee_stable(first), first.full_member()))
            .says(format!(
                "got {error} from {} for {} of {} calls of {}",
                lint.callee_label(first),
                failed.len(),
                calls.len(),
                short_name(first)
            ))
            .shown_by(failed)
            .costs(Cost::of_calls(failed))
            .query(format!("{} error:{error}", queries::calls(lint, first))),
    )
}

const ERRORS_MIN: usize = 10;
const WITHIN: Duration = Duration::from_secs(10);
const SHARE_PERCENT: usize = 5;
