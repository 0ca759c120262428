//! L01: the same match rule, set again and again.

use super::prelude::*;
use crate::lint::subscriptions::Subscription;

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
    let by_peer = lint.subscriptions().by_peer();
    by_peer.iter().filter_map(|(peer, rules)| check_peer(lint, *peer, rules)).collect()
}

fn check_peer(
    lint: &Context<'_>,
    peer: PeerId,
    rules: &[(usize, &Subscription)],
) -> Option<Finding> {
    let live: Vec<_> =
        rules.iter().map(|(_, one)| *one).filter(|one| !was_taken_back(one)).collect();
    let same = collected(live.iter().map(|one| (one.rule.to_string(), *one)));
    let copies: usize = same.iter().map(|(_, ones)| ones.len() - 1).sum();
    if copies < COPIES_MIN {
        return None;
    }
    let (worst, times) = same.iter().max_by_key(|(_, ones)| ones.len())?;
    let again = same.iter().flat_map(|(_, ones)| &ones[1..]).filter_map(|one| one.set_by);
    let is_high = copies * 100 > live.len() * COPIES_HIGH_PERCENT && copies >= COPIES_HIGH_MIN;
    let severity = if is_high { Severity::High } else { Severity::Med };
    let who = lint.who(Party::Peer(peer));
    let query = format!("{} member:AddMatch", queries::term("from", &who));
    Some(
        Finding::new(&RULE, who)
            .about("match-rules")
            .says(format!(
                "has {} match rules, of which {copies} are copies; {} times {worst}",
                live.len(),
                times.len()
            ))
            .severity(severity)
            .evidence(Evidence::of(again))
            .costs(Cost { calls: copies as u64, ..Cost::default() })
            .query(query),
    )
}

/// Rules of a connection that has left are no fault.
fn was_taken_back(one: &Subscription) -> bool {
    one.until.is_some()
}

const COPIES_MIN: usize = 2;
const COPIES_HIGH_PERCENT: usize = 25;

/// A program with few rules does little harm.
const COPIES_HIGH_MIN: usize = 10;
