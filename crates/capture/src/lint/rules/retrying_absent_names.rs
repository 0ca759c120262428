//! L18: waiting for a name by asking for it.

use wire::match_rule::Arg;

use super::prelude::*;
use crate::subscriptions::Subscription;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(18),
    title: "waiting for a name by asking for it",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program calls a name that nobody owns, gets an error, and tries again and again. A \
              program that has a match rule for NameOwnerChanged of that name already, or adds one \
              while it starts, is not reported.",
    thresholds: &[
        Threshold::count("errors of one method about one name for one caller", ERRORS_MIN),
        Threshold::span("within", WITHIN),
        Threshold::span("from the first to the last, at least", LASTS_MIN),
        Threshold::span("before the match rule, at most", START_UP),
    ],
    advice: "Watch the name: a match rule for NameOwnerChanged with arg0='the.name' reports when \
             it gets an owner.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let failed = lint.calls.iter().filter(|call| {
        call.partner()
            .is_some_and(|reply| reply.kind() == MessageType::Error && is_absent(reply.member()))
            && !lint.lacks_its_service(call)
    });
    let named = failed.filter_map(|call| Some(((call.from()?, wanted(lint, call)?), *call)));
    let by_name = collected(named);
    by_name
        .iter()
        .filter_map(|((peer, name), calls)| check_name(lint, *peer, name, calls))
        .collect()
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

fn check_name(
    lint: &Context<'_>,
    peer: PeerId,
    name: &str,
    calls: &[Message<'_>],
) -> Option<Finding> {
    let bus = calls[0].bus();
    if lint.lacks_headers(bus) || !lint.subscriptions().are_shown_of(peer) {
        return None;
    }
    let watches: Vec<_> = watches(lint, peer, name).collect();
    let is_excused = |call: &Message<'_>| {
        watches.iter().any(|rule| {
            rule.since <= call.at().after(START_UP)
                && rule.until().is_none_or(|until| call.at() <= until)
        })
    };
    let calls: Vec<_> = calls.iter().filter(|call| !is_excused(call)).copied().collect();
    let is_retry = |calls: &Vec<Message<'_>>| {
        let run = busiest(calls, WITHIN);
        run.len() >= ERRORS_MIN && spread(run) >= LASTS_MIN
    };
    if !grouped(&calls, |call| (call.interface_id(), call.member_id())).iter().any(is_retry) {
        return None;
    }
    // Match rules that it added before the recording began are known only if the recorder found them.
    let is_known = lint.subscriptions().is_complete(bus)
        || lint.capture.directory().peer(peer).arrived.is_some();
    let first = &calls[0];
    let who = lint.who(lint.sender(first));
    let query = format!("{} error:*", queries::term("from", &who));
    Some(
        Finding::new(&RULE, who)
            .about(name)
            .says(format!("asked {} times for {name}, which nobody owned", calls.len()))
            .confidence(if is_known { Confidence::High } else { Confidence::Medium })
            .shown_by(&calls)
            .costs(Cost::of_calls(&calls))
            .query(query),
    )
}

/// Match rules of a connection by which it learns who owns a name.
fn watches<'l>(
    lint: &'l Context<'_>,
    peer: PeerId,
    name: &'l str,
) -> impl Iterator<Item = &'l Subscription> {
    lint.subscriptions().all.iter().filter(move |one| {
        let rule = &one.rule;
        one.peer == peer
            && rule.message_type().is_none_or(|kind| kind == MessageType::Signal)
            && rule.sender().is_none_or(|sender| sender == DRIVER)
            && rule.interface().is_none_or(|interface| interface == DRIVER)
            && rule.member().is_none_or(|member| member == "NameOwnerChanged")
            && rule.path().is_none_or(|path| path.selects(DRIVER_PATH))
            && rule
                .args()
                .iter()
                .all(|wanted| wanted.index == 0 && wanted.selects(Some(Arg::String(name))))
    })
}

const DRIVER: &str = "org.freedesktop.DBus";
const DRIVER_PATH: &str = "/org/freedesktop/DBus";
const ERRORS_MIN: usize = 3;

/// A program that asks for a name only while it starts does not wait for it.
const LASTS_MIN: Duration = Duration::from_secs(1);
const START_UP: Duration = Duration::from_secs(1);
const WITHIN: Duration = Duration::from_secs(60);
