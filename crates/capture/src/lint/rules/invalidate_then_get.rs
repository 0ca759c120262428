//! L25: clients read properties right after a signal that omits their values.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(25),
    title: "invalidated properties that are read at once",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "PropertiesChanged reports that a property has changed but omits the new value, and a \
              client reads the value at once. That costs a signal and a round trip, although the \
              signal could have carried the value.",
    thresholds: &[
        Threshold::count("times that a client read the property", PAIRS_MIN),
        Threshold::span("after the signal, within", SOON),
    ],
    example: "systemd 252 only invalidates Conditions and ExecStart of a unit that changes, and \
              cockpit-bridge reads the properties at once; so does systemd-run.",
    advice: "Send the new value in the signal (EmitsChangedSignal=true), unless the value is large \
             or expensive to compute.",
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
        // `GetAll` with an empty name reads the properties of all interfaces.
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
        "invalidates properties of {interface} without sending their values, and clients read them \
         at once, {} times",
        gets.len()
    ));
    finding.costs(Cost::of_calls(gets))
}

const PAIRS_MIN: usize = 3;
const SOON: Duration = Duration::from_millis(100);
