//! L25: "it has changed, ask me what it is".

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(25),
    title: "invalidated properties that are asked for at once",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "PropertiesChanged says that a property has changed and not to what, and somebody \
              asks for it at once: a signal and a round trip for what the signal could have said.",
    thresholds: &[
        Threshold::count("times that it was asked for", PAIRS_MIN),
        Threshold::span("after the signal, within", SOON),
    ],
    seen: "systemd 252 only invalidates Conditions and ExecStart of a unit that changes, and \
           cockpit-bridge asks for the properties at once; systemd-run does so too.",
    advice: "Send the new value in the signal (EmitsChangedSignal=true), unless it is large or \
             costs much to make.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let gets = lint.calls.iter().filter(|call| call.interface() == PROPERTIES);
    let by_object = collected(gets.filter_map(|call| Some(((call.to()?, call.path_id()), *call))));
    let by_object: HashMap<_, _> = by_object.into_iter().collect();
    let pairs =
        lint.changes().iter().filter(|it| !it.invalidated.is_empty()).filter_map(|change| {
            let gets = by_object.get(&(change.signal.from()?, change.signal.path_id()))?;
            let get = next_get(lint, gets, change)?;
            Some(((change.signal.sender_id(), &change.interface), get))
        });
    let found = collected(pairs);
    let often = found.iter().filter(|(_, gets)| gets.len() >= PAIRS_MIN);
    often.map(|((_, interface), gets)| report(lint, interface, gets)).collect()
}

fn next_get<'c>(
    lint: &LintContext<'c>,
    gets: &[CapturedMessage<'c>],
    change: &crate::lint::changes::PropertyChange<'c>,
) -> Option<CapturedMessage<'c>> {
    let from = gets.partition_point(|get| get.id() < change.signal.id());
    let soon = gets[from..]
        .iter()
        .take_while(|get| get.at().since(change.signal.at()).is_some_and(|gap| gap <= SOON));
    let mut soon = soon.filter(|get| matches!(get.member(), "Get" | "GetAll"));
    let asks = |get: &&CapturedMessage<'_>| match lint.texts(get).as_slice() {
        // An empty name asks for the properties of all interfaces.
        [interface] => interface.is_empty() || **interface == *change.interface,
        [interface, name] => {
            **interface == *change.interface && change.invalidated.iter().any(|it| **it == **name)
        }
        _ => false,
    };
    soon.find(asks).copied()
}

fn report(lint: &LintContext<'_>, interface: &str, gets: &[CapturedMessage<'_>]) -> Finding {
    let finding = lint.of_callee(gets).about(interface).says(format!(
        "only says that properties of {interface} have changed, and is asked for them at once, \
         {} times",
        gets.len()
    ));
    finding.costs(Cost::of_calls(gets))
}

const PAIRS_MIN: usize = 3;
const SOON: Duration = Duration::from_millis(100);
