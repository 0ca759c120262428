//! L11: the same question, the same answer.

use super::polling;
use super::prelude::*;
use crate::lint::changes::hash_of;
use crate::lint::questions::has_asking_name;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(11),
    title: "the same call with the same answer",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A program makes the same call with the same arguments again and again, and gets the \
              same answer. Only methods that ask are looked at, such as Get, List or Has; calls at a \
              steady pace are reported by L12.",
    thresholds: &[Threshold::count("calls with identical answers", SAME_MIN)],
    seen: "tracker-extract 3.4 calls Metadata.GetTreeFromDevice of gvfsd-metadata 238 times \
           with the same arguments and always gets the same answer.",
    advice: "Keep the answer, and let the service send a signal when it changes.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let often =
        lint.methods().iter().filter(|it| it.len() >= SAME_MIN && has_asking_name(it[0].member()));
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
        "asks {} for {} {} times with the same arguments, and gets the same answer",
        lint.callee_label(first),
        short_name(first),
        same.len()
    ));
    let finding = finding.costs(Cost::of_calls(&same[1..]));
    (same.len() >= SAME_MIN).then(|| finding.selecting(format!("path:{}", first.path())))
}

/// What was asked and answered; `None` if the answer holds nothing.
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
