//! L32: a program checks the owner of a name before each call.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(32),
    title: "name checks before calls",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A program asks the bus whether a name has an owner, or starts the service, and then \
              calls it. That takes two round trips. The call alone would start the service, or \
              fail if the name has no owner.",
    thresholds: &[
        Threshold::count("such pairs for one name", PAIRS_MIN),
        Threshold::span("from the reply to the call, at most", APART_MAX),
    ],
    example: "startplasma-x11 5.27 calls GetNameOwner before each of 65 calls to \
              org.kde.klauncher5.",
    advice: "Make the call without the check. The bus starts the service, or replies with \
             ServiceUnknown at once. If you must know whether the service is running, watch the \
             name.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let pairs = lint.callers().iter().flat_map(|calls| {
        let pairs = calls.windows(2).filter(|two| is_pair(lint, &two[0], &two[1]));
        pairs.map(|two| ((two[0].sender_id(), two[1].destination_id()), two[0]))
    });
    let by_name = collected(pairs);
    let often = by_name.iter().filter(|(_, checks)| checks.len() >= PAIRS_MIN);
    often.map(|((_, name), checks)| report(lint, *name, checks)).collect()
}

fn is_pair(
    lint: &LintContext<'_>,
    check: &CapturedMessage<'_>,
    call: &CapturedMessage<'_>,
) -> bool {
    let answered = check.partner().map(|reply| reply.at());
    check.is_driver_traffic()
        && CHECKS.contains(&check.member())
        && !call.is_driver_traffic()
        && answered.and_then(|at| call.at().since(at)).is_some_and(|gap| gap <= APART_MAX)
        && lint.texts(check).first().is_some_and(|name| name == call.destination())
}

fn report(lint: &LintContext<'_>, name: TextId, checks: &[CapturedMessage<'_>]) -> Finding {
    let first = &checks[0];
    let name = lint.capture.strings().get(name);
    lint.of_calls(checks).about(name).says(format!(
        "calls {} before it calls {name}, {} times",
        first.member(),
        checks.len()
    ))
}

const CHECKS: [&str; 3] = ["GetNameOwner", "NameHasOwner", "StartServiceByName"];
const PAIRS_MIN: usize = 3;
const APART_MAX: Duration = Duration::from_millis(5);
