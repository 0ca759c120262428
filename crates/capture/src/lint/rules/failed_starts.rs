//! L54: services that cannot be started.

use super::prelude::*;
use crate::record::Fact;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(54),
    title: "services that fail to start",
    rating: Rating::AtLeast(Severity::Med),
    needs: Needs::Messages,
    meaning: "The bus tried again and again to start a service, because somebody called it, and the \
              service did not come up: its program is missing, exits, crashes or does not take its \
              name. Each attempt costs a process, and the callers wait until it has failed.",
    thresholds: &[Threshold::count("failed starts of one service", FAILURES_MIN)],
    advice: "Run the program as its service file does, and read what it prints; the log of the bus says \
             how each start ended. Remove the service file if the program is gone. In the caller: do \
             not call again at once after an activation error.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let failed =
        lint.calls.iter().filter_map(|call| Some(((call.bus(), wanted(lint, call)?), *call)));
    let starts = failed_starts(lint);
    let report = |((bus, name), calls): &((BusId, String), Vec<Message<'_>>)| {
        // The bus counts attempts; without its trace, each call that failed counts as one.
        let count = starts.get(&(*bus, name.as_str())).copied().unwrap_or(calls.len());
        (count >= FAILURES_MIN).then(|| report(lint, name, count, calls))
    };
    collected(failed).iter().filter_map(report).collect()
}

/// The service that the bus could not start for a call.
fn wanted(lint: &Context<'_>, call: &Message<'_>) -> Option<String> {
    let error = call.partner().filter(|reply| {
        reply.kind() == MessageType::Error && reply.sender_id() == lint.capture.driver()
    })?;
    if !error.member().starts_with(SPAWN) {
        return None;
    }
    if call.destination_id() != lint.capture.driver() {
        return Some(call.destination().to_owned());
    }
    lint.texts(call).into_iter().next()
}

/// By service, how many starts failed, as far as the bus has recorded that.
fn failed_starts<'c>(lint: &Context<'c>) -> HashMap<(BusId, &'c str), usize> {
    let mut starts = HashMap::new();
    for (_, bus, fact) in lint.capture.facts() {
        if let Fact::Started { name, failure: Some(_) } = fact {
            *starts.entry((*bus, name.as_str())).or_default() += 1;
        }
    }
    starts
}

fn report(lint: &Context<'_>, name: &str, count: usize, calls: &[Message<'_>]) -> Finding {
    let first = &calls[0];
    let error = first.partner().map(|reply| reply.member()).unwrap_or_default();
    Finding::new(&RULE, lint.named(name))
        .about("start")
        .says(format!(
            "failed to start {} ({}), for {}, first {} by {}",
            units::counted(count as u64, "time"),
            error.strip_prefix(ERRORS).unwrap_or(error),
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.who(lint.sender(first)).label
        ))
        .shown_by(calls)
        .costs(Cost::of_waiting(calls))
        .query("error:*Spawn*")
}

const FAILURES_MIN: usize = 3;
const ERRORS: &str = "org.freedesktop.DBus.Error.";
const SPAWN: &str = "org.freedesktop.DBus.Error.Spawn.";
