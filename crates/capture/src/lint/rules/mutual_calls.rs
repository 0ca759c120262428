//! L21: two who wait for each other.

use super::prelude::*;
use crate::lint::deadlocks;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(21),
    title: "two programs that wait for each other",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "One program waits for another, which waits for the first. Neither answers until one \
              gives up.",
    thresholds: &[Threshold::span("both calls are under way together", deadlocks::TOGETHER)],
    seen: "gvfsd 1.50 waits for Mountable.Mount of gvfsd-smb-browse, which waits for \
           MountTracker.MountLocation of gvfsd.",
    advice: "Never make a synchronous call from the handler of a call; answer first, or call \
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
    Finding::new(lint.who(lint.sender(one)))
        .about(format!("{} {} {}", lint.callee_stable(one), one.full_member(), other.full_member()))
        .says(format!(
            "waits for {} of {}, which waits for {} of the first",
            short_name(one),
            lint.callee_label(one),
            short_name(other)
        ))
        .shown_by(calls)
        .costs(Cost::of_waits(waits))
        .query(format!("{} dur>1s", queries::term("name", &lint.who(lint.sender(one)))))
}
