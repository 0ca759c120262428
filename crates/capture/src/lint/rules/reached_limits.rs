//! L41: calls refused, messages lost and connections closed because of limits.

use super::prelude::*;
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(41),
    title: "bus limits reached",
    rating: Rating::Always(FindingSeverity::High),
    needs: Needs::Messages,
    meaning: "A limit was reached, so the bus refused a call, dropped signals to a program that \
              does not read, or disconnected the program. The affected messages are lost.",
    thresholds: &[Threshold::count("refused calls, losses or disconnections of a program", 1)],
    example: "cockpit-bridge has 128 pending calls, so dbus-daemon refuses the next ones \
              (max_replies_per_connection=128), about 90 times for one page \
              (cockpit-project/cockpit issues 1649 and 17899, with the log of the bus).",
    advice: "Read faster, or request less: use narrower match rules and fewer calls at once. If \
             the program works as intended, raise the limit.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut found = refusals(lint);
    found.extend(losses(lint));
    found.extend(ends(lint));
    found
}

fn refusals(lint: &LintContext<'_>) -> Vec<Finding> {
    let refused = lint
        .calls
        .iter()
        .filter(|call| call.partner().is_some_and(|reply| reply.member() == LIMITS_EXCEEDED));
    let report = |calls: &Vec<CapturedMessage<'_>>| {
        let first = &calls[0];
        let party = lint.party(lint.sender(first));
        let query = format!("{} error:*LimitsExceeded", queries::term("from", &party));
        Finding::new(party)
            .about(format!("refused {}", first.full_member()))
            .says(format!(
                "had {} refused because a limit was reached, first {}",
                units::counted(calls.len() as u64, "call"),
                short_name(first)
            ))
            .shown_by(calls)
            .costs(Cost::of_calls(calls))
            .query(query)
    };
    grouped(refused, |call| (call.sender_id(), call.member_id())).iter().map(report).collect()
}

fn losses(lint: &LintContext<'_>) -> Vec<Finding> {
    let dropped = lint.capture.facts().iter().filter_map(|(_, bus, fact)| match fact {
        // A policy withholds copies on purpose; no limit was reached.
        Fact::Dropped { why, .. } if POLICY.iter().any(|words| why.starts_with(words)) => None,
        Fact::Dropped { recipient, why, count } => Some(((bus, recipient, why), *count)),
        _ => None,
    });
    let report =
        |((bus, recipient, why), counts): &((&BusId, &Option<String>, &String), Vec<u64>)| {
            let lost: u64 = counts.iter().sum();
            let unique = recipient.as_deref().and_then(|name| lint.capture.strings().find(name));
            let peer = unique.and_then(|name| lint.capture.directory().by_unique(**bus, name));
            let party = match peer {
                Some(peer) => lint.party(TrafficParty::Peer(peer)),
                None => lint.named(recipient.as_deref().unwrap_or("an unknown connection")),
            };
            let query = queries::term("to", &party);
            Finding::new(party)
                .about("lost")
                .says(format!("lost {}: {why}", units::counted(lost, "message")))
                .evidence(Evidence { first: Vec::new(), count: lost })
                .query(query)
        };
    collected(dropped).iter().map(report).collect()
}

fn ends(lint: &LintContext<'_>) -> Vec<Finding> {
    let peers = lint.capture.directory().peers().filter(|(id, _)| !lint.is_observer(*id));
    let ended = peers.filter_map(|(id, peer)| Some((id, peer.why.as_deref()?)));
    let report = |(id, why): (RecordedPeerId, &str)| {
        let party = lint.party(TrafficParty::Peer(id));
        let query = queries::term("from", &party);
        let ended = format!("was disconnected by the bus: {why}");
        Finding::new(party).about("disconnected").says(ended).query(query)
    };
    ended.map(report).collect()
}

/// The beginnings of the bus's texts about messages that a policy rule withheld.
const POLICY: [&str; 2] = ["Rejected send message", "Rejected receive message"];

const LIMITS_EXCEEDED: &str = "org.freedesktop.DBus.Error.LimitsExceeded";
