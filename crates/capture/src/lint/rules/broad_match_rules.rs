//! L03: a match rule that lets in what nobody asked for.

use super::prelude::*;
use crate::lint::audience::RuleSelection;
use crate::subscriptions::MatchRuleLifetime;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(3),
    title: "broad match rules",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A match rule names no sender, no path and no argument, and selects signals of \
              several senders at a rate that wakes its program again and again. Most of what comes \
              is thrown away by the library.",
    thresholds: &[
        Threshold::count("signals that the rule selected", SELECTED_MIN),
        Threshold::count("different senders of them", SENDERS_MIN),
        Threshold::rate("such signals", RATE_MIN),
    ],
    seen: "system-config-printer-applet 1.5.18 sets the rule type='signal' and was woken by 393 \
           signals of 11 senders in half a minute. On the accessibility bus, Orca 43 asks for \
           org.a11y.atspi.Event.Object.StateChanged of all programs.",
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
    let who = lint.who(TrafficParty::Peer(one.peer));
    let query = rule.member().map_or("type:signal".into(), |it| format!("type:signal member:{it}"));
    Some(
        Finding::new(who)
            .about(format!("rule {rule}"))
            .says(format!(
                "asks for {}, and got {} signals of {} senders",
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
