//! L12: asking at a steady pace.

use super::managed_objects_again::is_again;
use super::prelude::*;
use crate::lint::changes::hash_of;
use crate::lint::patterns::{Period, period};
use crate::lint::questions::asks;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(12),
    title: "polling",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program sends the same question at a steady pace, to find out whether something has \
              changed. It wakes itself, the bus and the service each time, and is still late by \
              half a period on average. A question is a call with the same arguments as before that \
              gets a result, and whose name begins with a word such as Get, List or Is, or that has \
              no arguments. Ping, which only keeps a connection alive, is not a question; \
              GetManagedObjects is reported by L09.",
    thresholds: &[
        Threshold::count("times that the same is asked", ROUNDS_MIN),
        Threshold::span("from one to the next, at least", PERIOD_MIN),
        Threshold::span("and at most", PERIOD_MAX),
        Threshold::percent("of the distances within 20 % of the usual one", STEADY_PERCENT as u64),
    ],
    seen: "xfce4-pulseaudio-plugin 0.4.5 calls ListNames of the bus every second, and GetAll of \
           each media player that it finds.",
    advice: "Subscribe to PropertiesChanged or to the service's own signal, ask once, and then \
             listen. If the service sends none, that is where to begin.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.methods().iter().filter_map(|calls| check_method(lint, calls)).collect()
}

fn check_method(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let (Period { usual, rounds }, calls) = polled(lint, calls)?;
    let first = &calls[0];
    Some(lint.of_calls(&calls).about(lint.method_of(first)).says(format!(
        "asks {} for {} every {}, {} times",
        lint.callee_label(first),
        short_name(first),
        units::span(usual),
        units::grouped(rounds as u64)
    )))
}

/// Those of some calls of one method that ask the same again and again, and their pace.
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

/// The object and the arguments of a call; `None` if the recording does not show them.
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
