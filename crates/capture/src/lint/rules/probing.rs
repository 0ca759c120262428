//! L17: a program finds out by errors which members a service has.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(17),
    title: "calls to missing objects or methods",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program keeps using methods, objects, interfaces or properties that a service does \
              not have, and gets an error each time.",
    thresholds: &[Threshold::count("such errors from one service to one caller", ERRORS_MIN)],
    example: "systemd-logind 252 reads a property of a job of systemd 8 times after the job is \
              gone. plasmashell 5.27 calls the missing object /VirtualKeyboard of org.kde.KWin 5 \
              times.",
    advice: "Find out once, with GetAll or Introspect, which members exist, and remember them. \
             After an object is removed (InterfacesRemoved), do not call it.",
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

/// Returns true if the error means that the called object or member does not exist.
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
            "made {} to missing objects or members of {}, on {}; first {} on {}",
            units::counted(calls.len() as u64, "call"),
            lint.callee_label(first),
            units::counted(paths.len() as u64, "object"),
            short_name(first),
            first.path()
        ))
        .query(format!("{} error:*Unknown*", queries::sent_by(lint, first)))
}

const ERRORS_MIN: usize = 3;
