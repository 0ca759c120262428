//! L11: a program repeats a call and always gets the same reply.

use super::polling;
use super::prelude::*;
use crate::lint::changes::hash_of;
use crate::lint::questions::has_query_name;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(11),
    title: "repeated calls with the same reply",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A program makes the same call with the same arguments again and again, and gets the \
              same reply. Only methods whose names suggest a query are checked, such as Get, List \
              or Has. L12 reports calls at regular intervals.",
    thresholds: &[Threshold::count("calls with identical replies", SAME_MIN)],
    example: "tracker-extract 3.4 calls Metadata.GetTreeFromDevice of gvfsd-metadata 238 times \
              with the same arguments and always gets the same reply.",
    advice: "Cache the reply, and let the service send a signal when the value changes.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let often =
        lint.methods().iter().filter(|it| it.len() >= SAME_MIN && has_query_name(it[0].member()));
    let often = often.filter(|calls| polling::polled(lint, calls).is_none());
    let by_path = often.flat_map(|calls| grouped(calls, CapturedMessage::path_id));
    let by_path = by_path.filter(|calls| calls.len() >= SAME_MIN);
    by_path.filter_map(|calls| check_object(lint, &calls)).collect()
}

fn check_object(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let asked = calls.iter().filter_map(|call| Some((exchange(lint, call)?, *call)));
    let same = collected(asked).into_iter().map(|(_, calls)| calls).max_by_key(Vec::len)?;
    let first = &same[0];
    let finding = lint.of_calls(&same).about(lint.method_of(first)).says(format!(
        "calls {} of {} {} times with the same arguments, and gets the same reply",
        short_name(first),
        lint.callee_label(first),
        same.len()
    ));
    let finding = finding.costs(Cost::of_calls(&same[1..]));
    (same.len() >= SAME_MIN).then(|| finding.selecting(format!("path:{}", first.path())))
}

/// Hashes of the bodies of a call and its reply; `None` if the reply has no body or is an error.
fn exchange(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> Option<(u64, u64)> {
    let reply = call.partner().filter(|reply| reply.kind() == MessageType::MethodReturn)?;
    if reply.signature_id().is_none() {
        return None;
    }
    let body =
        |message: &CapturedMessage<'_>| lint.read(message, |body| Some(hash_of(body.body())));
    Some((body(call)?, body(&reply)?))
}

const SAME_MIN: usize = 5;
