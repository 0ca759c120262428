//! L12: a program makes the same query at regular intervals.

use super::prelude::*;
use super::repeated_get_managed_objects::is_again;
use crate::lint::changes::hash_of;
use crate::lint::patterns::{Period, period};
use crate::lint::questions::asks;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(12),
    title: "polling",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program makes the same query at regular intervals to find out whether something \
              has changed. Each time it wakes itself, the bus and the service, and on average it \
              still learns of a change half an interval late. A query is a call that repeats the \
              arguments of an earlier one and returns a value, and that either has no arguments or \
              whose name begins with a word such as Get, List or Is. Ping, which only keeps a \
              connection alive, does not count. L09 reports GetManagedObjects.",
    thresholds: &[
        Threshold::count("repetitions of the query", ROUNDS_MIN),
        Threshold::span("usual interval, at least", PERIOD_MIN),
        Threshold::span("usual interval, at most", PERIOD_MAX),
        Threshold::percent(
            "share of intervals within 20 % of the usual one",
            STEADY_PERCENT as u64,
        ),
    ],
    example: "xfce4-pulseaudio-plugin 0.4.5 calls ListNames of the bus every second, and GetAll of \
              each media player that it finds.",
    advice: "Subscribe to PropertiesChanged or to a signal of the service, read the value once, \
             and then wait for the signal. If the service sends no such signal, add one there \
             first.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.methods().iter().filter_map(|calls| check_method(lint, calls)).collect()
}

fn check_method(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let (Period { usual, rounds }, calls) = polled(lint, calls)?;
    let first = &calls[0];
    Some(lint.of_calls(&calls).about(lint.method_of(first)).says(format!(
        "calls {} of {} every {}, {} times",
        short_name(first),
        lint.callee_label(first),
        units::span(usual),
        units::grouped(rounds as u64)
    )))
}

/// The calls of one method that repeat the same query, and their interval.
pub(super) fn polled<'c>(
    lint: &LintContext<'_>,
    calls: &[CapturedMessage<'c>],
) -> Option<(Period, Vec<CapturedMessage<'c>>)> {
    if calls.len() < ROUNDS_MIN || is_again(calls) {
        return None;
    }
    let questions = calls.iter().filter(|call| asks(call));
    let questions = collected(questions.filter_map(|it| Some((question(lint, it)?, *it))));
    let again = questions.into_iter().filter(|(_, calls)| calls.len() >= ROUNDS_MIN);
    let mut again: Vec<_> = again.flat_map(|(_, calls)| calls).collect();
    again.sort_unstable_by_key(CapturedMessage::id);
    let period = period(&again, PERIOD_MIN).filter(|period| period.rounds >= ROUNDS_MIN)?;
    (PERIOD_MIN..=PERIOD_MAX).contains(&period.usual).then_some((period, again))
}

/// The path and a hash of the arguments of a call; `None` if the recording does not show them.
fn question(lint: &LintContext<'_>, call: &CapturedMessage<'_>) -> Option<(TextId, u64)> {
    let arguments = match call.signature_id().is_none() {
        true => 0,
        false => lint.read(call, |body| Some(hash_of(body.body())))?,
    };
    Some((call.path_id(), arguments))
}

const ROUNDS_MIN: usize = 10;
const PERIOD_MIN: Duration = Duration::from_millis(10);
const PERIOD_MAX: Duration = Duration::from_secs(60);
const STEADY_PERCENT: usize = crate::lint::patterns::STEADY_PERCENT;
