//! L06: signals wake a program that does not react to them.

use super::prelude::*;
use crate::lint::audience::ReachedSignals;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(6),
    title: "wasted wake-ups",
    rating: Rating::BY_COST,
    needs: Needs::MatchRules,
    meaning: "Signals of one interface reach a program again and again. The program never calls \
              their sender, and it sends no message soon after such a signal. It may draw \
              something on the screen; if not, the wake-ups are wasted.",
    thresholds: &[
        Threshold::rate("rate of such signals", RATE_MIN),
        Threshold::count("such signals in total", REACHED_MIN),
        Threshold::percent(
            "share of signals soon followed by a message of the program, at most",
            REACTIONS_MAX_PERCENT,
        ),
    ],
    example: "gnome-clocks 43, evince 43 and a dozen other programs: for each change of the text \
              size, org.freedesktop.portal.Desktop sends two SettingChanged signals, 102 in ten \
              seconds, and no recorded message shows that a program reacted to them.",
    advice: "Narrow the match rule: add the sender, the path or the first argument. Or unsubscribe \
             while the program shows nothing.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let called: HashSet<_> =
        lint.calls.iter().filter_map(|call| Some((call.from()?, call.to()?))).collect();
    let mut reached: Vec<_> = lint.audience().reached.iter().collect();
    reached.sort_by_key(|(_, reached)| reached.messages.first.first());
    let found = reached.into_iter().filter_map(|(&(peer, sender, interface), reached)| {
        let bus = lint.capture.directory().peer(peer).bus;
        let from = lint.capture.directory().by_unique(bus, sender)?;
        let is_used = called.contains(&(peer, from)) || sender == lint.capture.driver();
        (!is_used).then(|| check_reached(lint, (peer, from), interface, reached))?
    });
    found.collect()
}

fn check_reached(
    lint: &LintContext<'_>,
    (peer, from): (RecordedPeerId, RecordedPeerId),
    interface: TextId,
    reached: &ReachedSignals,
) -> Option<Finding> {
    let count = reached.messages.count;
    let seconds = lint.recorded(lint.capture.directory().peer(peer).bus).as_secs().max(1);
    if count < REACHED_MIN as u64
        || count / seconds < RATE_MIN
        || reached.reactions * 100 > count * REACTIONS_MAX_PERCENT
    {
        return None;
    }
    let sender = lint.party(TrafficParty::Peer(from));
    let interface = lint.capture.strings().get(interface);
    Some(
        Finding::new(lint.party(TrafficParty::Peer(peer)))
            .about(format!("{} {interface}", sender.stable))
            .says(format!(
                "was woken {} times by signals of {interface} from {}, and reacted with no message",
                units::grouped(count),
                sender.label
            ))
            .confidence(Confidence::Low)
            .evidence(reached.messages.clone())
            .costs(Cost { wake_ups: count, bytes: reached.bytes, ..Cost::default() })
            .query(format!("{} type:signal interface:{interface}", queries::term("from", &sender))),
    )
}

const RATE_MIN: u64 = 10;
const REACHED_MIN: usize = 100;
const REACTIONS_MAX_PERCENT: u64 = 5;
