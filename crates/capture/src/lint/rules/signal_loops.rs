//! L27: a change that causes itself.

use super::prelude::*;
use crate::lint::changes::{hash_of, is_change};

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(27),
    title: "loops of Set and PropertiesChanged",
    rating: Rating::AtLeast(Severity::Med),
    needs: Needs::Bodies,
    meaning: "A program sets a property, the service says that it has changed, the program sets it \
              again because of that, and so on, as fast as the processor allows. The values come \
              back, so it is nobody who moves a slider.",
    thresholds: &[
        Threshold::count("rounds", ROUNDS_MIN),
        Threshold::span("each takes at most", ROUND_MAX),
        Threshold::percent("of the values set are different, at most", DIFFERENT_PERCENT as u64),
    ],
    advice: "Set a property only if the value differs from what you last heard; do not set one \
             while you handle its change.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let sets = lint.calls.iter().filter(|it| it.member() == "Set" && it.interface() == PROPERTIES);
    let sets = sets.filter_map(|call| Some(((call.to()?, call.path_id()), *call)));
    let changes = lint.signals.iter().filter(|signal| is_change(signal));
    let changes = changes.filter_map(|it| Some(((it.from()?, it.path_id()), *it)));
    let by_object = collected(sets.chain(changes));
    by_object.into_iter().filter_map(|(_, messages)| check_object(lint, messages)).collect()
}

fn check_object(lint: &Context<'_>, mut messages: Vec<Message<'_>>) -> Option<Finding> {
    messages.sort_unstable_by_key(Message::id);
    let alternates = |one: &Message<'_>, next: &Message<'_>| {
        one.kind() != next.kind() && next.at().since(one.at()).is_some_and(|gap| gap <= ROUND_MAX)
    };
    let run = messages.chunk_by(alternates).max_by_key(|run| run.len())?;
    let sets: Vec<_> =
        run.iter().filter(|it| it.kind() == MessageType::MethodCall).copied().collect();
    if sets.len() < ROUNDS_MIN {
        return None;
    }
    let value = |set: &Message<'_>| lint.read(set, |body| Some(hash_of(body.body())));
    let values = sets.iter().map(value).collect::<Option<Vec<_>>>()?;
    let different: HashSet<_> = values.iter().collect();
    if different.len() * 100 > sets.len() * DIFFERENT_PERCENT {
        return None;
    }
    let first = &sets[0];
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about(format!("{} {}", lint.callee_stable(first), first.path()))
            .says(format!(
                "and {} answer each other's changes of {}, {} times in {}",
                lint.callee_label(first),
                first.path(),
                sets.len(),
                units::span(spread(run))
            ))
            .confidence(Confidence::Medium)
            .shown_by(run)
            .costs(Cost { wake_ups: sets.len() as u64, ..Cost::of_calls(&sets) })
            .query(queries::calls(lint, first)),
    )
}

const ROUNDS_MIN: usize = 10;
const ROUND_MAX: Duration = Duration::from_millis(100);
const DIFFERENT_PERCENT: usize = 50;
