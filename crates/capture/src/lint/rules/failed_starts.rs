//! L54: services that fail to start.

use super::prelude::*;
use crate::activation::{FailedDependency, FailedStart, ServiceStartFailure};
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(54),
    title: "services that fail to start",
    rating: Rating::AtLeast(FindingSeverity::Med),
    needs: Needs::Messages,
    meaning: "A call needed a service that was not running, and the bus could not start the \
              service: its program is missing, exits, crashes or does not acquire its name in \
              time. If the service exited right after another service had failed, or was still \
              waiting for it, the finding names the other service. A crash is always attributed to \
              the service itself. Each attempt costs a process, and the callers wait until it has \
              failed.",
    thresholds: &[Threshold::count("failed starts of one service", FAILURES_MIN)],
    example: "org.bluez on a machine without a Bluetooth adapter: the service never acquires its \
              name, and GeoClue 2.6 and ModemManager wait 25 s until the start fails.",
    advice: "Run the program as its service file does, and read its output; the log of the bus \
             says how each start ended. If the program is gone, remove the service file. If a name \
             has no service file, install the package that provides it. If services wait for each \
             other, let one of them acquire its name before it calls the other. In the caller: do \
             not call again at once after an activation error.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let failed = lint.failed_starts().iter();
    let blamed = collected(failed.map(|start| ((start.bus, start.blamed()), start)));
    let counted = counted_by_bus(lint);
    let report = |((bus, name), starts): &((BusId, &str), Vec<&FailedStart<'_>>)| {
        let own = starts.iter().filter(|start| start.name == *name).count();
        // The trace of the bus has all failed starts, also those without a call in the recording.
        let own = counted.get(&(*bus, *name)).copied().unwrap_or(own);
        (starts.len().max(own) >= FAILURES_MIN).then(|| report(lint, name, own, starts))
    };
    blamed.iter().filter_map(report).collect()
}

/// The number of failed starts of each service that the bus recorded in its trace.
fn counted_by_bus<'c>(lint: &LintContext<'c>) -> HashMap<(BusId, &'c str), usize> {
    let mut starts = HashMap::default();
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
    let is_chain = starts.iter().any(|start| start.dependency.is_some());
    let is_certain =
        !is_chain && starts.iter().all(|it| it.failure != ServiceStartFailure::NotAcquired);
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

/// Describes how often the service itself failed to start, and why.
fn own_failures(name: &str, count: usize, starts: &[&FailedStart<'_>]) -> String {
    let Some(first) = starts.iter().find(|start| start.name == name) else {
        let is_absent = |start: &&FailedStart<'_>| {
            matches!(start.dependency, Some(FailedDependency::Absent(_)))
        };
        if starts.iter().any(is_absent) {
            return String::from("does not exist: the name has no owner and is not activatable");
        }
        return String::from("did not start in time for the services that need it");
    };
    let late = first.late_by.map_or_else(String::new, |late| {
        format!("; it acquired its name {} later", units::span(late))
    });
    format!("failed to start {}: {}{late}", units::counted(count as u64, "time"), first.why())
}

/// Describes the services that failed because this one did.
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
