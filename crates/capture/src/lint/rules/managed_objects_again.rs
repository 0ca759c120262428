//! L09: all objects of a service, again and again.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(9),
    title: "GetManagedObjects again and again",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "GetManagedObjects copies the whole state of a service. A program that calls it \
              repeatedly makes the service write all of it each time, to find out what signals \
              would have told.",
    thresholds: &[
        Threshold::count("calls, if answers are large", LARGE_MIN),
        Threshold::bytes("an answer is large", LARGE),
        Threshold::count("calls otherwise", CALLS_MIN),
        Threshold::span("of which two are not further apart than", APART_MAX),
    ],
    seen: "bluezero 0.9.1 calls GetManagedObjects of org.bluez 59 times to look up the \
           characteristics of one device.",
    advice: "Call it once, then follow InterfacesAdded, InterfacesRemoved and PropertiesChanged. \
             If most of the objects are of no interest, ask for those that are.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let again = lint.methods().iter().filter(|calls| is_again(calls));
    again.map(|calls| report(lint, calls)).collect()
}

/// Whether calls of one caller ask for all objects too often.
pub(super) fn is_again(calls: &[CapturedMessage<'_>]) -> bool {
    let large =
        calls.iter().filter_map(CapturedMessage::partner).filter(|reply| reply.len() > LARGE);
    let is_often = calls.len() >= CALLS_MIN && spread(calls) <= APART_MAX * calls.len() as u32;
    calls[0].member() == "GetManagedObjects" && (is_often || large.count() >= LARGE_MIN)
}

fn report(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Finding {
    let first = &calls[0];
    let largest = calls.iter().filter_map(CapturedMessage::partner).map(|reply| reply.len()).max();
    lint.of_calls(calls).about(format!("{} {}", lint.callee_stable(first), first.path())).says(
        format!(
            "asks {} for all its objects {} times; the largest answer has {}",
            lint.callee_label(first),
            calls.len(),
            units::bytes(largest.unwrap_or(0).into())
        ),
    )
}

const LARGE: u32 = 64 << 10;
const LARGE_MIN: usize = 2;
const CALLS_MIN: usize = 3;
const APART_MAX: Duration = Duration::from_secs(10);
