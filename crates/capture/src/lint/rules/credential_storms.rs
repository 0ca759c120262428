//! L53: everybody asks who the newcomer is.

use super::prelude::*;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(53),
    title: "everybody asks who has come",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A connection comes or takes a name, and several programs ask the bus for its process \
              or user at once.",
    thresholds: &[
        Threshold::count("programs that ask about one connection", CALLERS_MIN),
        Threshold::span("within", WITHIN),
    ],
    advice: "Ask only about those you deal with, when they call you; GetConnectionCredentials \
             tells all in one call.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let asked = lint.calls.iter().filter(|call| {
        call.is_driver_traffic()
            && (call.member().starts_with("GetConnection"))
            && QUESTIONS.contains(&call.member())
    });
    let asked = asked.filter_map(|call| Some((lint.texts(call).into_iter().next()?, *call)));
    let by_name = collected(asked);
    let storms = by_name.iter().filter_map(|(name, calls)| {
        let run = busiest(calls, WITHIN);
        let callers: HashSet<_> = run.iter().map(Message::sender_id).collect();
        (callers.len() >= CALLERS_MIN).then_some((name.as_str(), run, callers.len()))
    });
    let storms: Vec<_> = storms.collect();
    report(lint, &storms).into_iter().collect()
}

fn report(lint: &Context<'_>, storms: &[(&str, &[Message<'_>], usize)]) -> Option<Finding> {
    let (name, calls, callers) = storms.iter().max_by_key(|(_, _, callers)| callers)?;
    let all: Vec<_> = storms.iter().flat_map(|(_, calls, _)| calls.iter()).copied().collect();
    let first = &calls[0];
    Some(
        Finding::new(&RULE, lint.who(lint.sender(first)))
            .about("credentials")
            .says(format!(
                "and {} others asked who {name} is; so it went with {}",
                callers - 1,
                units::counted(storms.len() as u64, "connection")
            ))
            .shown_by(&all)
            .costs(Cost::of_calls(&all))
            .query("to:org.freedesktop.DBus member:GetConnection*"),
    )
}

const QUESTIONS: [&str; 3] =
    ["GetConnectionUnixProcessID", "GetConnectionUnixUser", "GetConnectionCredentials"];
const CALLERS_MIN: usize = 5;
const WITHIN: Duration = Duration::from_millis(100);
