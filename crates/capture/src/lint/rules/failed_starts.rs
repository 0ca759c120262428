//! L54: services that cannot be started.

use super::prelude::*;
use crate::activation::{Culprit, FailedStart, ServiceStartFailure};
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(54),
    title: "services that fail to start",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "A call needed a service that was not running, and the bus could not start the service: \
              its program is missing, exits, crashes or does not take its name in time. If the service \
              exited at once when another service had failed, or was still waiting for it, the other \
              service is reported. A crash is always the fault of the service itself. Each attempt \
              costs a process, and the callers wait until it has failed.",
    thresholds: &[Threshold::count("failed starts of one service", FAILURES_MIN)],
    seen: "org.bluez on a machine without a Bluetooth adapter: the service never takes its \
           name, and GeoClue 2.6 and ModemManager wait 25 s for it until the start fails.",
    advice: "Run the program as its service file does, and read what it prints; the log of the bus \
             says how each start ended. Remove the service file if the program is gone, and install \
             what provides a name that does not exist. If services wait for each other, have one of \
             them take its name before it calls the other. In the caller: do not call again at once \
             after an activation error.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let failed = lint.failed_starts().iter();
    let blamed = collected(failed.map(|start| ((start.bus, start.blamed()), start)));
    let counted = counted_by_bus(lint);
    let report = |((bus, name), starts): &((BusId, &str), Vec<&FailedStart<'_>>)| {
        let own = starts.iter().filter(|start| start.name == *name).count();
        // With its trace, the bus says how many starts failed, also those without a call.
        let own = counted.get(&(*bus, *name)).copied().unwrap_or(own);
        (starts.len().max(own) >= FAILURES_MIN).then(|| report(lint, name, own, starts))
    };
    blamed.iter().filter_map(report).collect()
}

/// By service, how many starts failed, as far as the bus has recorded that.
fn counted_by_bus<'c>(lint: &LintContext<'c>) -> HashMap<(BusId, &'c str), usize> {
    let mut starts = HashMap::new();
    for (_, bus, fact) in lint.capture.facts() {
        if let Fact::Started { name, failure: Some(_) } = fact {
            *starts.entry((*bus, name.as_str())).or_default() += 1;
        }
    }
    starts
}

fn report(lint: &LintContext<'_>, name: &str, own: usize, starts: &[&FailedStart<'_>]) -> Finding {
    let mut calls: Vec<_> = starts.iter().flat_map(|start| start.calls.iter().copied()).collect();
    calls.sort_by_key(CapturedMessage::id);
    let first = &calls[0];
    let is_chain = starts.iter().any(|start| start.culprit.is_some());
    let is_certain =
        !is_chain && starts.iter().all(|it| it.failure != ServiceStartFailure::NeverCame);
    Finding::new(lint.named(name))
        .about("start")
        .says(format!(
            "{}{}; {} waited, first {} by {}",
            own_failures(name, own, starts),
            failed_with_it(name, starts),
            units::counted(calls.len() as u64, "call"),
            short_name(first),
            lint.sender_label(first)
        ))
        .confidence(if is_certain { Confidence::High } else { Confidence::Medium })
        .shown_by(&calls)
        .costs(Cost::of_waits(calls.iter().filter_map(CapturedMessage::waited)))
        .query(format!("(to:{name} or arg0:{name}) (is:unanswered or error:*)"))
}

/// How often the service itself did not start, and why.
fn own_failures(name: &str, count: usize, starts: &[&FailedStart<'_>]) -> String {
    let Some(first) = starts.iter().find(|start| start.name == name) else {
        let is_absent =
            |start: &&FailedStart<'_>| matches!(start.culprit, Some(Culprit::Absent(_)));
        if starts.iter().any(is_absent) {
            return String::from("does not exist: nothing owns the name, and nothing can start it");
        }
        return String::from("was not there in time for the services that need it");
    };
    let late = first.late_by.map_or_else(String::new, |late| {
        format!("; it took its name {} after that", units::span(late))
    });
    format!("failed to start {}: {}{late}", units::counted(count as u64, "time"), first.why())
}

/// The services that failed because this one did.
fn failed_with_it(name: &str, starts: &[&FailedStart<'_>]) -> String {
    let mut others: Vec<_> = starts.iter().map(|start| start.name.as_str()).collect();
    others.retain(|other| *other != name);
    others.sort_unstable();
    others.dedup();
    match others.as_slice() {
        [] => String::new(),
        [other] => format!("; {other} needs it and failed to start"),
        others => format!("; {} need it and failed to start", others.join(" and ")),
    }
}

const FAILURES_MIN: usize = 1;
