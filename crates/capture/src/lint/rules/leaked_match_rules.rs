//! L02: a connection adds match rules and never removes them.

use super::prelude::*;
use crate::lint::subscribers::{Subscriber, SubscriberFault, at_fault};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(2),
    title: "match rules that are never removed",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A connection adds more and more match rules and never calls RemoveMatch. The bus \
              keeps all of them until the connection ends or reaches the limit. Until then, every \
              signal that they concern takes more time to dispatch.",
    thresholds: &[
        Threshold::count("match rules of a connection when it closes", RULES_MIN),
        Threshold::percent(
            "share of rules added in the second half of its lifetime",
            GROWING_PERCENT as u64,
        ),
        Threshold::span("from the first rule to the last", GROWING_FOR),
        Threshold::count("match rules, for at least the severity med", RULES_NEAR_LIMIT)
            .source("80 % of the 512 that dbus-daemon allows a connection by default"),
    ],
    example: "Linux.Bluetooth with Tmds.DBus adds a rule for PropertiesChanged of each device that \
              BlueZ finds and removes few of them, until dbus-daemon refuses the next one at 2048 \
              rules (SuessLabs/Linux.Bluetooth issue 19, with a log of its AddMatch calls). Our \
              own recordings were too short to show it.",
    advice: "Remove a rule when the watched object is gone: call RemoveMatch, or the unsubscribe \
             function of your library.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    at_fault(lint, |subscriber| leaked(lint, subscriber))
}

fn leaked(lint: &LintContext<'_>, subscriber: &Subscriber<'_>) -> Option<SubscriberFault> {
    let Subscriber { peer, rules } = subscriber;
    let (first, last) = (rules.first()?.1, rules.last()?.1);
    if rules.len() < RULES_MIN
        || lint.subscriptions().has_removed(*peer)
        || last.since.since(first.since)? < GROWING_FOR
    {
        return None;
    }
    let end = subscriber.left().unwrap_or(lint.end(first.bus));
    let half = first.since.after(end.since(first.since)? / 2);
    let late = rules.iter().filter(|(_, one)| one.since > half).count();
    if late * 100 < rules.len() * GROWING_PERCENT {
        return None;
    }
    let says = format!(
        "{} {} match rules, added {late} of them in the second half of its lifetime, and never \
         removed one",
        subscriber.has_or_had(),
        rules.len()
    );
    Some(SubscriberFault {
        says,
        severity: if rules.len() >= RULES_NEAR_LIMIT {
            FindingSeverity::Med
        } else {
            FindingSeverity::Low
        },
        confidence: Confidence::Medium,
        rules: rules.len(),
        set_by: rules.iter().filter_map(|(_, one)| one.set_by).collect(),
    })
}

/// A program that adds all its rules within this time, as at its start, leaks none.
const GROWING_FOR: Duration = Duration::from_secs(1);
const RULES_MIN: usize = 100;
const RULES_NEAR_LIMIT: usize = 410;
const GROWING_PERCENT: usize = 20;
