//! L01: the same match rule, set again and again.

use super::prelude::*;
use crate::lint::subscribers::{Fault, Subscriber, at_fault};
use crate::subscriptions::Subscription;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(1),
    title: "duplicate match rules",
    severity: Severity::Med,
    needs: Needs::MatchRules,
    meaning: "A connection has set a match rule that it already had, and not taken back. A bus \
              delivers a message once however many rules of a connection select it, so the copies \
              bring nothing: each has cost a round trip to set, and memory and time in the bus.",
    thresholds: &[
        Threshold::count("copies of a connection's rules", COPIES_MIN),
        Threshold::percent("copies among its rules, to be high", COPIES_HIGH_PERCENT as u64)
            .source("a desktop with 628 AddMatch calls, of which 25 were different"),
    ],
    advice: "Set each rule once and count who uses it; if a library sets them, that is a bug of \
             the library.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    at_fault(lint, &RULE, copies)
}

fn copies(subscriber: &Subscriber<'_>) -> Option<Fault> {
    let live: Vec<_> =
        subscriber.rules.iter().map(|(_, one)| *one).filter(|one| !was_taken_back(one)).collect();
    let same = collected(live.iter().map(|one| (one.rule.to_string(), *one)));
    let copies: usize = same.iter().map(|(_, ones)| ones.len() - 1).sum();
    if copies < COPIES_MIN {
        return None;
    }
    let (worst, times) = same.iter().max_by_key(|(_, ones)| ones.len())?;
    let says = format!(
        "has {} match rules, of which {copies} are copies; {} times {worst}",
        live.len(),
        times.len()
    );
    let again = same.iter().flat_map(|(_, ones)| &ones[1..]);
    let is_high = copies * 100 > live.len() * COPIES_HIGH_PERCENT && copies >= COPIES_HIGH_MIN;
    Some(Fault {
        says,
        severity: if is_high { Severity::High } else { Severity::Med },
        confidence: Confidence::High,
        rules: copies,
        set_by: again.filter_map(|one| one.set_by).collect(),
    })
}

/// Rules of a connection that has left are no fault.
fn was_taken_back(one: &Subscription) -> bool {
    one.until().is_some()
}

const COPIES_MIN: usize = 2;
const COPIES_HIGH_PERCENT: usize = 25;

/// A program with few rules does little harm.
const COPIES_HIGH_MIN: usize = 10;
