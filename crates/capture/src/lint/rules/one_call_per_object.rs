//! L08: a program reads the objects of a service one by one.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(8),
    title: "one call for each object",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program reads the properties or the introspection data of many sibling objects of \
              one service, with one round trip for each object.",
    thresholds: &[
        Threshold::count("different objects below one path", OBJECTS_MIN),
        Threshold::span("within", WITHIN),
    ],
    example: "geary 43 reads the properties of 11 objects below /org/freedesktop/IBus of fcitx5 \
              with GetAll, one after the other. cockpit-bridge 287, when a page watches units, \
              introspects 243 units of systemd and reads the properties of 201 of them.",
    advice: "Call ObjectManager.GetManagedObjects once, and follow InterfacesAdded, \
             InterfacesRemoved and PropertiesChanged. If the service does not implement \
             ObjectManager, add it there.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let calls = lint.calls.iter().filter(|call| is_question(call) && parent(call.path()).is_some());
    let by_tree = grouped(calls, |call| {
        let to = (call.bus(), call.sender_id(), call.destination_id());
        (to, call.member_id(), parent(call.path()).map(str::to_owned))
    });
    by_tree.iter().filter_map(|calls| check_tree(lint, calls)).collect()
}

fn is_question(call: &CapturedMessage<'_>) -> bool {
    match call.interface() {
        PROPERTIES => matches!(call.member(), "Get" | "GetAll"),
        INTROSPECTABLE => call.member() == "Introspect",
        _ => false,
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
}

fn check_tree(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let run = busiest(calls, WITHIN);
    let objects: HashSet<_> = run.iter().map(CapturedMessage::path_id).collect();
    let first = &calls[0];
    let parent = parent(first.path()).filter(|_| objects.len() >= OBJECTS_MIN)?;
    let finding = lint.of_calls(calls).says(format!(
        "calls up to {} objects below {parent} of {} one after the other with {}",
        objects.len(),
        lint.callee_label(first),
        short_name(first)
    ));
    let subject = format!("{} {parent} {}", lint.callee_stable(first), first.member());
    Some(finding.about(subject).selecting(format!("path:{parent}/*")))
}

const OBJECTS_MIN: usize = 5;
const WITHIN: Duration = Duration::from_secs(5);
