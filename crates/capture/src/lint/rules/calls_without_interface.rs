//! L46: calls that do not name the interface.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(46),
    title: "calls without an interface",
    rating: Rating::Always(Severity::Info),
    needs: Needs::Messages,
    meaning: "Calls name a method and no interface. If two interfaces of the object have a method \
              of that name, which one is called is not defined, and policies cannot tell them \
              apart.",
    thresholds: &[Threshold::count("such calls of one caller", CALLS_MIN)],
    advice: "Name the interface in every call.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let bare = lint.calls.iter().filter(|call| call.interface_id().is_none());
    let by_pair = grouped(bare, |call| (call.bus(), call.sender_id(), call.destination_id()));
    let often = by_pair.iter().filter(|calls| calls.len() >= CALLS_MIN);
    often.map(|calls| report(lint, calls)).collect()
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.sender(first)))
        .about(lint.callee_stable(first))
        .says(format!(
            "calls {} of {} without naming the interface, {} times",
            first.member(),
            lint.callee_label(first),
            calls.len()
        ))
        .shown_by(calls)
        .query(queries::calls(lint, first))
}

const CALLS_MIN: usize = 10;
