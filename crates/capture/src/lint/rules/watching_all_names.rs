//! L04: NameOwnerChanged of everybody, for the sake of a few.

use super::prelude::*;
use crate::lint::audience::RuleSelection;
use crate::subscriptions::MatchRuleLifetime;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(4),
    title: "watching the owners of all names",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "A match rule for NameOwnerChanged names no argument, so its program is woken \
              whenever anybody connects, leaves, or takes a name.",
    thresholds: &[Threshold::count("NameOwnerChanged that the rule selected", SELECTED_MIN)],
    seen: "pipewire 0.3.65 has a rule for all NameOwnerChanged and was woken by 529 of them \
           while a GNOME session started and ran for two minutes; gnome-keyring-daemon, \
           gnome-shell and polkitd do the same.",
    advice: "Watch the names you need, with arg0='the.name' for each or arg0namespace for a \
             family of them.",
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
        Finding::new(lint.who(TrafficParty::Peer(one.peer)))
            .about("NameOwnerChanged")
            .says(format!("was told of {} changes of owners, of all names", units::grouped(count)))
            .evidence(selected.messages.clone())
            .costs(Cost { wake_ups: count, ..Cost::default() })
            .query("member:NameOwnerChanged"),
    )
}

const SELECTED_MIN: usize = 10;
