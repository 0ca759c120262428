//! L05: match rules that selected nothing.

use super::prelude::*;
use crate::lint::subscriptions::Subscription;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(5),
    title: "match rules that select nothing",
    severity: Severity::Info,
    needs: Needs::MatchRules,
    meaning: "Match rules of a connection selected not one signal. Each has cost a round trip when \
              it was set, mostly while the program started and somebody waited. Rules for the \
              owner of one name are left out: it is good if they see nothing.",
    thresholds: &[
        Threshold::span("a rule is watched", WATCHED_MIN),
        Threshold::count("such rules of a connection", RULES_MIN),
    ],
    advice: "Subscribe when somebody needs it, not at the start; or send all AddMatch calls at \
             once and wait for none.",
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
    let selected = &lint.audience().selected;
    let is_idle = |(place, one): &&(usize, &Subscription)| {
        let end = one.until.unwrap_or(lint.span(one.bus).last);
        selected[*place].messages.count == 0
            && !watches_one_name(one)
            && end.since(one.since).is_some_and(|span| span >= WATCHED_MIN)
    };
    let idle: Vec<_> = rules.iter().filter(is_idle).collect();
    if idle.len() < RULES_MIN {
        return None;
    }
    let who = lint.who(Party::Peer(peer));
    let query = format!("{} member:AddMatch", queries::term("from", &who));
    Some(
        Finding::new(&RULE, who)
            .about("match-rules")
            .says(format!(
                "has {} match rules, of which {} selected nothing; one is {}",
                rules.len(),
                idle.len(),
                idle[0].1.rule
            ))
            .confidence(Confidence::Low)
            .evidence(Evidence::of(idle.iter().filter_map(|(_, one)| one.set_by)))
            .costs(Cost { calls: idle.len() as u64, ..Cost::default() })
            .query(query),
    )
}

fn watches_one_name(one: &Subscription) -> bool {
    one.rule.sender() == Some("org.freedesktop.DBus")
        || one.rule.member() == Some("NameOwnerChanged")
}

const WATCHED_MIN: Duration = Duration::from_secs(60);
const RULES_MIN: usize = 3;
