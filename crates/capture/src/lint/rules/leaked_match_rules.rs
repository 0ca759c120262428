//! L02: match rules that are never taken back.

use super::prelude::*;
use crate::lint::subscribers::{Fault, Subscriber, at_fault};

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(2),
    title: "match rules that are never taken back",
    severity: Severity::Med,
    needs: Needs::MatchRules,
    meaning: "A connection sets more and more match rules and has never called RemoveMatch. The \
              bus keeps all of them until it refuses the next one; until then every signal of \
              their kind costs more.",
    thresholds: &[
        Threshold::count("rules of a connection at the end", RULES_MIN),
        Threshold::percent(
            "of its rules set in the second half of its time",
            GROWING_PERCENT as u64,
        ),
        Threshold::count("rules, to be high", RULES_HIGH)
            .source("80 % of the 512 that dbus-daemon allows a connection by default"),
    ],
    advice: "Take a rule back when what it watched is gone: RemoveMatch, or the unsubscribe of \
             your library.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    at_fault(lint, &RULE, |subscriber| leaked(lint, subscriber))
}

fn leaked(lint: &Context<'_>, Subscriber { peer, rules }: &Subscriber<'_>) -> Option<Fault> {
    let first = rules.first()?.1;
    if rules.len() < RULES_MIN || lint.subscriptions().has_removed(*peer) || first.until().is_some()
    {
        return None;
    }
    let span = lint.span(first.bus).last.since(first.since)?;
    let half = first.since.after(span / 2);
    let late = rules.iter().filter(|(_, one)| one.since > half).count();
    if late * 100 < rules.len() * GROWING_PERCENT {
        return None;
    }
    let says = format!(
        "has {} match rules, {late} of them set in the second half of the recording, and has never \
         taken one back",
        rules.len()
    );
    Some(Fault {
        says,
        severity: if rules.len() >= RULES_HIGH { Severity::High } else { Severity::Med },
        confidence: Confidence::Medium,
        rules: rules.len(),
        set_by: rules.iter().filter_map(|(_, one)| one.set_by).collect(),
    })
}

const RULES_MIN: usize = 100;
const RULES_HIGH: usize = 410;
const GROWING_PERCENT: usize = 20;
