//! L03: a match rule matches more signals than its program needs.

use super::prelude::*;
use crate::lint::audience::RuleSelection;
use crate::subscriptions::MatchRuleLifetime;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(3),
    title: "broad match rules",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A match rule names no sender, no path and no argument. It matches signals of several \
              senders, at a rate that keeps waking the program. The library discards most of these \
              signals.",
    thresholds: &[
        Threshold::count("signals that the rule matched", SELECTED_MIN),
        Threshold::count("different senders of these signals", SENDERS_MIN),
        Threshold::rate("rate of these signals", RATE_MIN),
    ],
    example: "system-config-printer-applet 1.5.18 adds the rule type='signal' and was woken by 393 \
              signals of 11 senders in half a minute. On the accessibility bus, Orca 43 subscribes \
              to org.a11y.atspi.Event.Object.StateChanged of all programs.",
    advice: "Add the sender, the interface, and the path (path_namespace) or the first argument \
             (arg0, arg0namespace) to the rule.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.selections().filter_map(|(one, selected)| check_rule(lint, one, selected)).collect()
}

fn check_rule(
    lint: &LintContext<'_>,
    one: &MatchRuleLifetime,
    selected: &RuleSelection,
) -> Option<Finding> {
    let rule = &one.rule;
    let is_broad = rule.sender().is_none() && rule.path().is_none() && rule.args().is_empty();
    let count = selected.messages.count;
    let seconds = lint.recorded(one.bus).as_secs().max(1);
    if !is_broad
        || count < SELECTED_MIN as u64
        || selected.senders.len() < SENDERS_MIN
        || count / seconds < RATE_MIN
    {
        return None;
    }
    let subscriber = lint.party(TrafficParty::Peer(one.peer));
    let query = rule.member().map_or("type:signal".into(), |it| format!("type:signal member:{it}"));
    Some(
        Finding::new(subscriber)
            .about(format!("rule {rule}"))
            .says(format!(
                "subscribes to {}, and got {} signals of {} senders",
                if rule.to_string().is_empty() { "everything".into() } else { rule.to_string() },
                units::grouped(count),
                selected.senders.len()
            ))
            .evidence(selected.messages.clone())
            .confidence(Confidence::Medium)
            .costs(Cost { wake_ups: count, ..Cost::default() })
            .query(query),
    )
}

const SELECTED_MIN: usize = 100;
const SENDERS_MIN: usize = 3;
const RATE_MIN: u64 = 1;
