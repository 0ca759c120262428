//! L18: waiting for a name by asking for it.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(18),
    title: "waiting for a name by asking for it",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A program calls a name that nobody owns, gets an error, and tries again and again.",
    thresholds: &[
        Threshold::count("errors about one name for one caller", ERRORS_MIN),
        Threshold::span("within", WITHIN),
    ],
    advice: "Watch the name: NameOwnerChanged with arg0='the.name' tells when it is there.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let failed = lint.calls.iter().filter(|call| {
        call.partner()
            .is_some_and(|reply| reply.kind() == MessageType::Error && is_absent(reply.member()))
    });
    let named = failed.filter_map(|call| Some(((call.sender_id(), wanted(lint, call)?), *call)));
    let by_name = collected(named);
    by_name.iter().filter_map(|((_, name), calls)| check_name(lint, name, calls)).collect()
}

/// Whether an error says that nobody owns a name.
pub(super) fn is_absent(error: &str) -> bool {
    const KINDS: [&str; 2] = ["ServiceUnknown", "NameHasNoOwner"];
    let kind = error.strip_prefix("org.freedesktop.DBus.Error.");
    kind.is_some_and(|kind| KINDS.contains(&kind))
}

/// The name that a call is about; `None` if only its body says that, and cannot be read.
fn wanted(lint: &Context<'_>, call: &Message<'_>) -> Option<String> {
    if !call.is_driver_traffic()
        || call.partner().is_some_and(|it| it.sender() != call.destination())
    {
        return Some(call.destination().to_owned());
    }
    lint.texts(call).into_iter().next()
}

fn check_name(lint: &Context<'_>, name: &str, calls: &[Message<'_>]) -> Option<Finding> {
    let run = busiest(calls, WITHIN);
    if run.len() < ERRORS_MIN {
        return None;
    }
    let first = &calls[0];
    let who = lint.who(lint.sender(first));
    let query = format!("{} error:*", queries::term("from", &who));
    Some(
        Finding::new(&RULE, who)
            .about(name)
            .says(format!("asked {} times for {name}, which nobody owned", calls.len()))
            .shown_by(calls)
            .costs(Cost::of_calls(calls))
            .query(query),
    )
}

const ERRORS_MIN: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);
