//! L44: setting a property and asking for it.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(44),
    title: "reading back what was just set",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A program sets a property and asks for it at once. The answer of Set says that it was \
              accepted, and PropertiesChanged tells the value if the service has changed it.",
    thresholds: &[
        Threshold::count("pairs of Set and Get of one property", PAIRS_MIN),
        Threshold::span("from the answer to the Get, at most", APART_MAX),
    ],
    advice: "Trust the answer of Set, and listen to PropertiesChanged.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let pairs = lint.callers().iter().flat_map(|calls| {
        let pairs = calls.windows(2).filter(|two| is_pair(lint, &two[0], &two[1]));
        pairs.map(|two| ((two[0].sender_id(), two[1].destination_id()), two[1]))
    });
    let by_service = collected(pairs);
    let often = by_service.iter().filter(|(_, gets)| gets.len() >= PAIRS_MIN);
    often.map(|(_, gets)| report(lint, gets)).collect()
}

fn is_pair(lint: &Context<'_>, set: &Message<'_>, get: &Message<'_>) -> bool {
    let is_property = |call: &Message<'_>| call.interface() == PROPERTIES;
    is_property(set)
        && is_property(get)
        && (set.member(), get.member()) == ("Set", "Get")
        && (set.destination_id(), set.path_id()) == (get.destination_id(), get.path_id())
        && set
            .partner()
            .and_then(|reply| get.at().since(reply.at()))
            .is_some_and(|gap| gap <= APART_MAX)
        && lint.texts(set).get(..2).is_some_and(|what| lint.texts(get).starts_with(what))
}

fn report(lint: &Context<'_>, gets: &[Message<'_>]) -> Finding {
    let first = &gets[0];
    let property = lint.texts(first).pop().unwrap_or_default();
    Finding::new(&RULE, lint.who(lint.sender(first)))
        .about(lint.callee_stable(first))
        .says(format!(
            "asks {} for properties such as {property} right after setting them, {} times",
            lint.callee_label(first),
            gets.len()
        ))
        .shown_by(gets)
        .costs(Cost::of_calls(gets))
        .query(queries::calls(lint, first))
}

const PAIRS_MIN: usize = 3;
const APART_MAX: Duration = Duration::from_millis(10);
