//! L04: a program subscribes to NameOwnerChanged of all names.

use super::prelude::*;
use crate::lint::audience::RuleSelection;
use crate::subscriptions::MatchRuleLifetime;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(4),
    title: "watching the owners of all names",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A match rule for NameOwnerChanged has no argument. Therefore the program is woken \
              whenever any connection is made or closed, and whenever any name changes its owner.",
    thresholds: &[Threshold::count("NameOwnerChanged signals that the rule matched", SELECTED_MIN)],
    example: "pipewire 0.3.65 has a rule for all NameOwnerChanged signals and was woken by 529 of \
              them while a GNOME session started and ran for two minutes. gnome-keyring-daemon, \
              gnome-shell and polkitd do the same.",
    advice: "Watch only the names you need: arg0='the.name' for each, or arg0namespace for a \
             family of names.",
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
    let is_meant = rule.member() == Some("NameOwnerChanged")
        || (rule.member().is_none() && rule.sender() == Some("org.freedesktop.DBus"));
    let count = selected.messages.count;
    if !is_meant || !rule.args().is_empty() || count < SELECTED_MIN as u64 {
        return None;
    }
    Some(
        Finding::new(lint.party(TrafficParty::Peer(one.peer)))
            .about("NameOwnerChanged")
            .says(format!(
                "got {} NameOwnerChanged signals, for the owners of all names",
                units::grouped(count)
            ))
            .evidence(selected.messages.clone())
            .costs(Cost { wake_ups: count, ..Cost::default() })
            .query("member:NameOwnerChanged"),
    )
}

const SELECTED_MIN: usize = 10;
