//! L17: finding out by errors what a service has.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(17),
    title: "calls to missing objects or methods",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program keeps calling methods, objects, interfaces or properties that a service \
              does not have, and learns it from the error each time.",
    thresholds: &[Threshold::count("such errors for one caller from one service", ERRORS_MIN)],
    seen: "systemd-logind 252 reads a property of a job of systemd 8 times after the job is \
           gone. plasmashell 5.27 asks org.kde.KWin 5 times for an object /VirtualKeyboard.",
    advice: "Find out once what there is, by GetAll or Introspect, and remember it; after an \
             object has gone (InterfacesRemoved), do not ask for it.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let probes = lint.calls.iter().filter(|call| {
        call.partner()
            .is_some_and(|reply| reply.kind() == MessageType::Error && is_probe(reply.member()))
    });
    let by_pair = grouped(probes, |call| (call.bus(), call.sender_id(), call.destination_id()));
    let often = by_pair.iter().filter(|calls| calls.len() >= ERRORS_MIN);
    often.map(|calls| report(lint, calls)).collect()
}

/// Whether an error says that what was called is not there.
pub(super) fn is_probe(error: &str) -> bool {
    const KINDS: [&str; 4] =
        ["UnknownMethod", "UnknownObject", "UnknownInterface", "UnknownProperty"];
    let kind = error.strip_prefix("org.freedesktop.DBus.Error.");
    kind.is_some_and(|kind| KINDS.contains(&kind))
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let paths: HashSet<_> = calls.iter().map(CapturedMessage::path_id).collect();
    lint.of_calls(calls)
        .about(lint.callee_stable(first))
        .says(format!(
            "asked {} {} times for what it does not have, on {}; first {} on {}",
            lint.callee_label(first),
            calls.len(),
            units::counted(paths.len() as u64, "object"),
            short_name(first),
            first.path()
        ))
        .query(format!("{} error:*Unknown*", queries::sent_by(lint, first)))
}

const ERRORS_MIN: usize = 3;
