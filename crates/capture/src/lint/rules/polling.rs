//! L12: asking at a steady pace.

use super::managed_objects_again::is_again;
use super::prelude::*;
use crate::lint::patterns::{Period, period};
use crate::lint::questions::asks;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(12),
    title: "polling",
    severity: Severity::Med,
    needs: Needs::Messages,
    meaning: "A program calls the same method at a steady pace, to find out whether something has \
              changed. It wakes itself, the bus and the service each time, and is still late by \
              half a period on average. Only calls that ask are looked at; GetManagedObjects is \
              reported by L09.",
    thresholds: &[
        Threshold::count("rounds of calls", ROUNDS_MIN),
        Threshold::span("from one to the next, at least", PERIOD_MIN),
        Threshold::span("and at most", PERIOD_MAX),
        Threshold::percent("of the distances within 20 % of the usual one", STEADY_PERCENT as u64),
    ],
    advice: "Subscribe to PropertiesChanged or to the service's own signal, ask once, and then \
             listen. If the service sends none, that is where to begin.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    lint.methods().iter().filter_map(|calls| check_method(lint, calls)).collect()
}

fn check_method(lint: &Context<'_>, calls: &[Message<'_>]) -> Option<Finding> {
    let Period { usual, rounds } = pace(calls)?;
    let first = &calls[0];
    if calls.iter().filter(|call| asks(call)).count() * 2 < calls.len() || is_again(calls) {
        return None;
    }
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about(format!("{} {}", lint.callee_stable(first), first.full_member()))
            .says(format!(
                "asks {} for {} every {}, {} times",
                lint.callee_label(first),
                short_name(first),
                units::span(usual),
                units::grouped(rounds as u64)
            ))
            .shown_by(calls)
            .costs(Cost::of_calls(calls))
            .query(queries::calls(lint, first)),
    )
}

/// The pace of calls, if they are polling.
pub(super) fn pace(calls: &[Message<'_>]) -> Option<Period> {
    let period = period(calls, PERIOD_MIN).filter(|period| period.rounds >= ROUNDS_MIN)?;
    (PERIOD_MIN..=PERIOD_MAX).contains(&period.usual).then_some(period)
}

const ROUNDS_MIN: usize = 10;
const PERIOD_MIN: Duration = Duration::from_millis(10);
const PERIOD_MAX: Duration = Duration::from_secs(60);
const STEADY_PERCENT: usize = crate::lint::patterns::STEADY_PERCENT;
