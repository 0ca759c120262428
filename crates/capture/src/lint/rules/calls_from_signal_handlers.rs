//! L52: a signal that makes its listeners ask.

use super::prelude::*;
use crate::lint::changes::is_change;

pub(in crate::lint) const RULE: Rule = Rule {
    id: RuleId(52),
    title: "a call after every signal",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "Whenever a service emits a signal, a program calls it at once. The signal does not \
              say what its listeners want to know.",
    thresholds: &[
        Threshold::count("calls of one method, each right after a signal", PAIRS_MIN),
        Threshold::span("after it within", SOON),
        Threshold::percent("of the signals are followed by such a call", FOLLOWED_PERCENT as u64),
    ],
    advice: "Put what listeners ask for into the signal.",
    check,
};

fn check(lint: &Context<'_>) -> Vec<Finding> {
    let mut last: HashMap<PeerId, Message<'_>> = HashMap::new();
    let mut pairs = Vec::new();
    let mut emitted: HashMap<_, usize> = HashMap::new();
    for message in lint.messages().filter(|it| !it.is_driver_traffic()) {
        match message.kind() {
            MessageType::Signal if !is_change(&message) => {
                *emitted.entry(kind(&message)).or_default() += 1;
                last.extend(message.from().map(|peer| (peer, message)));
            }
            MessageType::MethodCall if !lint.is_deadlocked(&message) => {
                let signal = message.to().and_then(|peer| last.get(&peer)).copied();
                let signal = signal.filter(|it| is_soon(it, &message));
                pairs.extend(signal.map(|it| (key(&it, &message), (it, message))));
            }
            _ => {}
        }
    }
    let found = collected(pairs).into_iter().filter(|(_, pairs)| {
        let signals: HashSet<_> = pairs.iter().map(|(signal, _)| signal.id()).collect();
        let all = emitted.get(&kind(&pairs[0].0)).copied().unwrap_or(0);
        signals.len() >= PAIRS_MIN && signals.len() * 100 >= all * FOLLOWED_PERCENT
    });
    found.map(|(_, pairs)| report(lint, &pairs)).collect()
}

fn kind(signal: &Message<'_>) -> (Text, Text, Text) {
    (signal.sender_id(), signal.interface_id(), signal.member_id())
}

fn key(signal: &Message<'_>, call: &Message<'_>) -> ((Text, Text, Text), (Text, Text)) {
    (kind(signal), (call.sender_id(), call.member_id()))
}

fn is_soon(signal: &Message<'_>, call: &Message<'_>) -> bool {
    call.at().since(signal.at()).is_some_and(|gap| gap <= SOON)
}

fn report(lint: &Context<'_>, pairs: &[(Message<'_>, Message<'_>)]) -> Finding {
    let (signal, call) = &pairs[0];
    let calls: Vec<_> = pairs.iter().map(|(_, call)| *call).collect();
    Finding::new(&RULE, lint.who(lint.sender(signal)))
        .about(format!("{} {}", signal.full_member(), call.member()))
        .says(format!(
            "emits {}, and each time {} calls {}, {} times",
            short_name(signal),
            lint.who(lint.sender(call)).label,
            short_name(call),
            calls.len()
        ))
        .confidence(Confidence::Medium)
        .shown_by(&calls)
        .costs(Cost::of_calls(&calls))
        .query(queries::calls(lint, call))
}

const PAIRS_MIN: usize = 10;
const SOON: Duration = Duration::from_millis(1);
const FOLLOWED_PERCENT: usize = 80;
