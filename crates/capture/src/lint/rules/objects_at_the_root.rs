//! L47: services with interfaces at the path `/`.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(47),
    title: "interfaces at the root path",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::Messages,
    meaning: "A service has an interface of its own at the path /. If its process ever provides a \
              second service, the objects of both share this path.",
    thresholds: &[Threshold::count(
        "calls or signals of one interface at the path /",
        MESSAGES_MIN,
    )],
    example: "avahi-daemon 0.8 has org.freedesktop.Avahi.Server at the path /. kactivitymanagerd \
              5.27 and dolphin emit org.kde.KDirNotify there.",
    advice: "Put objects below a path made from the name of the service, with a version: \
             /org/example/Mail1.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let all = lint.calls.iter().chain(&lint.signals);
    let at_root = all.filter(|it| it.path() == "/" && is_own(it) && answers(it));
    let by_interface = collected(at_root.map(|it| ((service(lint, it), it.interface_id()), *it)));
    let often = by_interface.iter().filter(|(_, messages)| messages.len() >= MESSAGES_MIN);
    often.map(|((service, _), messages)| report(lint, *service, messages)).collect()
}

fn is_own(message: &CapturedMessage<'_>) -> bool {
    !message.interface_id().is_none()
        && !message.interface().starts_with("org.freedesktop.DBus")
        && !message.is_driver_traffic()
}

/// Returns true if the message shows that the service implements its interface at this path.
fn answers(message: &CapturedMessage<'_>) -> bool {
    message.kind() == MessageType::Signal
        || message.partner().is_some_and(|reply| reply.kind() == MessageType::MethodReturn)
}

fn service(lint: &LintContext<'_>, message: &CapturedMessage<'_>) -> TrafficParty {
    match message.kind() {
        MessageType::MethodCall => lint.callee(message),
        _ => lint.sender(message),
    }
}

fn report(
    lint: &LintContext<'_>,
    service: TrafficParty,
    messages: &[CapturedMessage<'_>],
) -> Finding {
    let interface = messages[0].interface();
    Finding::new(lint.party(service))
        .about(interface)
        .says(format!("has {interface} at the path /"))
        .shown_by(messages)
        .query(format!("path:/ interface:{interface}"))
}

const MESSAGES_MIN: usize = 3;
