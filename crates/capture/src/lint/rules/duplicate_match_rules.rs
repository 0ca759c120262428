//! L01: a connection adds the same match rule several times.

use super::prelude::*;
use crate::lint::subscribers::{Subscriber, SubscriberFault, at_fault};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(1),
    title: "duplicate match rules",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A connection added a match rule that it already had, and did not remove it. A bus \
              delivers a message once to a connection, however many of its rules match, so a \
              duplicate has no effect. But it costs a round trip to add, and memory and time in \
              the bus. Rules that ended because their connection closed are counted; rules that \
              RemoveMatch removed are not. stats --by rules counts in the same way.",
    thresholds: &[Threshold::count("duplicates among the rules of a connection", DUPLICATES_MIN)],
    example: "at-spi2-registryd 2.46 on the accessibility bus, while Orca 43 runs: it has 257 \
              match rules, of which 255 are duplicates. It adds one for the owner of Orca's \
              connection for each key that Orca listens to.",
    advice: "Add each rule once, and count its users in the program. If a library adds the \
             duplicates, report a bug to the library.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    at_fault(lint, duplicates)
}

fn duplicates(subscriber: &Subscriber<'_>) -> Option<SubscriberFault> {
    let rules = subscriber.rules.iter().map(|(_, one)| *one);
    let kept: Vec<_> = rules.filter(|one| one.taken_back.is_none()).collect();
    let same = collected(kept.iter().map(|one| (one.rule.to_string(), *one)));
    let duplicates: usize = same.iter().map(|(_, ones)| ones.len() - 1).sum();
    if duplicates < DUPLICATES_MIN {
        return None;
    }
    let (worst, times) = same.iter().rev().max_by_key(|(_, ones)| ones.len())?;
    let says = format!(
        "{} {} match rules, {} distinct and {duplicates} duplicates; {} times {worst}",
        subscriber.has_or_had(),
        kept.len(),
        same.len(),
        times.len()
    );
    let again = same.iter().flat_map(|(_, ones)| &ones[1..]);
    Some(SubscriberFault {
        says,
        severity: FindingSeverity::Info,
        confidence: Confidence::High,
        rules: duplicates,
        set_by: again.filter_map(|one| one.set_by).collect(),
    })
}

const DUPLICATES_MIN: usize = 2;
