//! L09: a program reads all objects of a service repeatedly.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(9),
    title: "repeated GetManagedObjects calls",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "GetManagedObjects returns the whole state of a service. A program that calls it \
              repeatedly makes the service serialize this state each time, although signals would \
              report the changes.",
    thresholds: &[
        Threshold::count("calls with large replies", LARGE_MIN),
        Threshold::bytes("size of a large reply", LARGE),
        Threshold::count("or calls with replies of any size", CALLS_MIN),
        Threshold::span("with an average interval of at most", APART_MAX),
    ],
    example: "bluezero 0.9.1 calls GetManagedObjects of org.bluez 59 times to look up the \
              characteristics of one device.",
    advice: "Call it once, then follow InterfacesAdded, InterfacesRemoved and PropertiesChanged. \
             If you do not need most of the objects, read only the ones you need.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let again = lint.methods().iter().filter(|calls| is_again(calls));
    again.map(|calls| report(lint, calls)).collect()
}

/// Returns true if the calls of one caller read all objects too often.
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
            "reads all objects of {} {} times; the largest reply has {}",
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
