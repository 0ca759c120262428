//! L14: the service leaves while a call is under way.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(14),
    title: "calls lost because the service left",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A service has left the bus, by ending or by crashing, while somebody waited for its \
              answer. The bus answers in its place with NoReply, if it answers at all.",
    thresholds: &[Threshold::count("calls under way when a service left", 1)],
    advice: "In the service: answer what is under way before the connection is closed. In the \
             caller: take NoReply as \"ask again when the name is back\".",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let lost = lint.calls.iter().filter(|call| is_lost(lint, call));
    grouped(lost, |call| lint.callee(call)).iter().map(|calls| report(lint, calls)).collect()
}

pub(super) fn is_lost(lint: &Context<'_>, call: &Message<'_>) -> bool {
    let left = call.to().and_then(|peer| lint.capture.directory().peer(peer).left);
    let Some(left) = left.filter(|&left| call.expects_reply() && left >= call.at()) else {
        return false;
    };
    match call.partner() {
        None => true,
        Some(reply) => {
            reply.member() == NO_REPLY
                && reply.is_driver_traffic()
                && left.max(reply.at()).since(left.min(reply.at())).is_some_and(|d| d <= TOGETHER)
        }
    }
}

fn report(lint: &Context<'_>, calls: &[Message<'_>]) -> Finding {
    let first = &calls[0];
    Finding::new(&RULE, lint.who(lint.callee(first)))
        .about("left")
        .says(format!(
            "left the bus with {} unanswered, first {} by {}",
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.who(lint.sender(first)).label
        ))
        .shown_by(calls)
        .costs(Cost { calls: calls.len() as u64, ..Cost::of_waiting(calls) })
        .query(format!(
            "{} (is:unanswered or error:*NoReply)",
            queries::term("to", &lint.who(lint.callee(first)))
        ))
}

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

/// The bus answers for who has left as soon as it sees that.
const TOGETHER: Duration = Duration::from_millis(100);
