//! L45: a signal, not the reply, reports that a call is done.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(45),
    title: "completion signals in place of replies",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::Messages,
    meaning: "A method replies at once, and soon a signal reports that the work is done. The \
              caller must find out which of its calls has finished, and the signal reaches other \
              programs too.",
    thresholds: &[
        Threshold::count("calls, each with such a signal", PAIRS_MIN),
        Threshold::span("within", WITHIN),
    ],
    example: "evolution-calendar-factory 3.46 replies to CalendarView.Start at once and emits \
              Complete when it is done, 10 times.",
    advice: "Reply when the work is done. Callers that do not wait in their main loop can wait for \
             minutes, and the bus matches reply and call. A long job that reports progress can be \
             an object of its own.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let ends = lint.emissions().iter().filter(|it| says_done(&it[0]));
    let mut by_sender: HashMap<_, Vec<CapturedMessage<'_>>> = HashMap::default();
    for signal in ends.flatten() {
        by_sender.entry((signal.from(), signal.interface_id())).or_default().push(*signal);
    }
    by_sender.values_mut().for_each(|signals| signals.sort_unstable_by_key(CapturedMessage::id));
    let started = lint.calls.iter().filter_map(|call| {
        let reply = call.partner().filter(|reply| reply.kind() == MessageType::MethodReturn)?;
        let signals = by_sender.get(&(call.to(), call.interface_id()))?;
        let from = signals.partition_point(|signal| signal.id() < reply.id());
        let signal = signals.get(from)?;
        let soon = signal.at().since(reply.at())? <= WITHIN;
        let method = (call.interface_id(), call.member_id());
        soon.then_some(((signal.sender_id(), method, signal.member_id()), (*call, *signal)))
    });
    let pairs = collected(started);
    let often = pairs.iter().filter(|(_, pairs)| signals_of(pairs) >= PAIRS_MIN);
    often.map(|(_, pairs)| report(lint, pairs)).collect()
}

fn says_done(signal: &CapturedMessage<'_>) -> bool {
    ENDINGS.iter().any(|ending| signal.member().ends_with(ending))
}

fn signals_of(pairs: &[(CapturedMessage<'_>, CapturedMessage<'_>)]) -> usize {
    pairs.iter().map(|(_, signal)| signal.id()).collect::<HashSet<_>>().len()
}

fn report(lint: &LintContext<'_>, pairs: &[(CapturedMessage<'_>, CapturedMessage<'_>)]) -> Finding {
    let (call, signal) = &pairs[0];
    let signals: Vec<_> = pairs.iter().map(|(_, signal)| *signal).collect();
    lint.of_signals(&signals)
        .about(format!("{} {}", call.full_member(), signal.member()))
        .says(format!(
            "replies to {} at once, and emits {} when it is done, {} times",
            short_name(call),
            signal.member(),
            pairs.len()
        ))
        .confidence(Confidence::Low)
}

const ENDINGS: [&str; 5] = ["Finished", "Completed", "Done", "Complete", "Succeeded"];
const PAIRS_MIN: usize = 3;
const WITHIN: Duration = Duration::from_secs(1);
