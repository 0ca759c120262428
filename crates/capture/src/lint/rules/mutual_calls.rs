//! L21: two programs wait for each other.

use super::prelude::*;
use crate::lint::deadlocks;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(21),
    title: "deadlocks between two programs",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "One program waits for a reply of another, which waits for a reply of the first. \
              Neither replies until one of them gives up.",
    thresholds: &[Threshold::span("time for which both calls are pending", deadlocks::TOGETHER)],
    example: "gvfsd 1.50 waits for Mountable.Mount of gvfsd-smb-browse, which waits for \
              MountTracker.MountLocation of gvfsd.",
    advice: "Never make a synchronous call from the handler of a call. Reply first, or call \
             asynchronously.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let pairs = deadlocks::find(lint);
    let by_parties = collected(
        pairs.iter().map(|(one, other)| ((lint.sender(one), lint.callee(one)), [*one, *other])),
    );
    by_parties.iter().map(|(_, calls)| report(lint, &calls.concat())).collect()
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let (one, other) = (&calls[0], &calls[1]);
    let waits = calls.iter().filter_map(CapturedMessage::waited);
    Finding::new(lint.party(lint.sender(one)))
        .about(format!("{} {} {}", lint.callee_stable(one), one.full_member(), other.full_member()))
        .says(format!(
            "waits for {} of {}, which waits for {} of the caller",
            short_name(one),
            lint.callee_label(one),
            short_name(other)
        ))
        .shown_by(calls)
        .costs(Cost::of_waits(waits))
        .query(format!("{} dur>1s", queries::term("name", &lint.party(lint.sender(one)))))
}
