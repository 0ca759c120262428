//! L05: match rules that match no signal.

use super::prelude::*;
use crate::lint::subscribers::{Subscriber, SubscriberFault, at_fault};
use crate::subscriptions::MatchRuleLifetime;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(5),
    title: "match rules that never match",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::MatchRules,
    meaning: "Match rules of a connection did not match a single signal. Each cost a round trip \
              when it was added, usually while the program was starting and its user was waiting. \
              Rules for the owner of one name are not counted, because it is normal that they \
              match nothing.",
    thresholds: &[
        Threshold::span("age of a rule", WATCHED_MIN),
        Threshold::count("such rules of a connection", RULES_MIN),
    ],
    example: "xdg-desktop-portal 1.16 in a MATE session: 46 of its 65 match rules matched nothing.",
    advice: "Subscribe when a feature needs the signal, not when the program starts. Or send all \
             AddMatch calls at once, without waiting for each reply.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    at_fault(lint, |subscriber| idle(lint, subscriber))
}

fn idle(lint: &LintContext<'_>, subscriber: &Subscriber<'_>) -> Option<SubscriberFault> {
    let selected = &lint.audience().selected;
    let is_idle = |(place, one): &&(usize, &MatchRuleLifetime)| {
        let end = one.until().unwrap_or(lint.end(one.bus));
        selected[*place].messages.count == 0
            && selected[*place].unread == 0
            && !watches_one_name(one)
            && end.since(one.since).is_some_and(|span| span >= WATCHED_MIN)
    };
    let idle: Vec<_> = subscriber.rules.iter().filter(is_idle).collect();
    if idle.len() < RULES_MIN {
        return None;
    }
    let says = format!(
        "has {} match rules, of which {} matched nothing; one is {}",
        subscriber.rules.len(),
        idle.len(),
        idle[0].1.rule
    );
    Some(SubscriberFault {
        says,
        severity: FindingSeverity::Info,
        confidence: Confidence::Low,
        rules: idle.len(),
        set_by: idle.iter().filter_map(|(_, one)| one.set_by).collect(),
    })
}

fn watches_one_name(one: &MatchRuleLifetime) -> bool {
    one.rule.sender() == Some("org.freedesktop.DBus")
        || one.rule.member() == Some("NameOwnerChanged")
}

const WATCHED_MIN: Duration = Duration::from_secs(60);
const RULES_MIN: usize = 3;
