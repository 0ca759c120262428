//! L42: a program has too many pending calls.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(42),
    title: "too many pending calls",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "The number of pending calls of a program is large enough that a bus with the usual limits \
              will soon refuse the next one.",
    thresholds: &[Threshold::count("pending calls of one connection", PENDING_MIN)
        .source("half of the 128 that dbus-daemon allows by default")],
    example: "cockpit-bridge 287 had 184 pending calls to systemd and other services when a page \
              watched their objects. d-feet 0.3.16 had 273 pending calls to the bus.",
    advice: "Keep at most a few dozen calls pending, and send the next ones as replies arrive. Or \
             get everything in one call.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.callers().iter().filter_map(|calls| check_caller(lint, calls)).collect()
}

fn check_caller(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let mut pending: BinaryHeap<Reverse<RecordedTime>> = BinaryHeap::new();
    let mut most = 0;
    let mut above = Vec::new();
    let is_known = |call: &&CapturedMessage<'_>| {
        call.expects_reply() && (call.partner().is_some() || lint.is_unanswered(call))
    };
    for call in calls.iter().filter(is_known) {
        while pending.peek().is_some_and(|Reverse(over)| *over <= call.at()) {
            pending.pop();
        }
        pending.push(Reverse(call.at().after(call.waited().unwrap_or_default())));
        most = most.max(pending.len());
        if pending.len() >= PENDING_MIN {
            above.push(*call);
        }
    }
    let first = above.first()?;
    let finding = lint.of_calls(&above).about("pending").says(format!(
        "had up to {most} pending calls at once, such as {} of {}",
        short_name(first),
        lint.callee_label(first)
    ));
    Some(finding.query(format!("{} type:method_call", queries::sent_by(lint, first))))
}

const PENDING_MIN: usize = 64;
