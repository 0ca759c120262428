//! L41: what a bus refused or threw away.

use super::prelude::*;
use crate::record::Fact;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(41),
    title: "limits of the bus that were reached",
    rating: Rating::Always(FindingSeverity::High),
    needs: Needs::Messages,
    meaning: "The bus has refused something because a limit was reached, has kept signals from a \
              program that does not read, or has ended its connection. What was lost is lost.",
    thresholds: &[Threshold::count("refusals, losses and disconnections of one program", 1)],
    seen: "cockpit-bridge has so many calls under way that dbus-daemon refuses the next ones at \
           max_replies_per_connection=128, about 90 times for one page (cockpit-project/cockpit \
           issues 1649 and 17899, with the log of the bus).",
    advice: "Read faster, or ask for less: narrower match rules, fewer calls at once. If the \
             program is right, the limit is too low for it.",
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
        let who = lint.who(lint.sender(first));
        let query = format!("{} error:*LimitsExceeded", queries::term("from", &who));
        Finding::new(who)
            .about(format!("refused {}", first.full_member()))
            .says(format!(
                "was refused {} because a limit was reached, first {}",
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
        // A policy withholds a copy on purpose, and no limit has to do with it.
        Fact::Dropped { why, .. } if POLICY.iter().any(|words| why.starts_with(words)) => None,
        Fact::Dropped { recipient, why, count } => Some(((bus, recipient, why), *count)),
        _ => None,
    });
    let report =
        |((bus, recipient, why), counts): &((&BusId, &Option<String>, &String), Vec<u64>)| {
            let lost: u64 = counts.iter().sum();
            let unique = recipient.as_deref().and_then(|name| lint.capture.strings().find(name));
            let peer = unique.and_then(|name| lint.capture.directory().by_unique(**bus, name));
            let who = match peer {
                Some(peer) => lint.who(TrafficParty::Peer(peer)),
                None => lint.named(recipient.as_deref().unwrap_or("somebody")),
            };
            let query = queries::term("to", &who);
            Finding::new(who)
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
        let who = lint.who(TrafficParty::Peer(id));
        let query = queries::term("from", &who);
        let ended = format!("was disconnected by the bus: {why}");
        Finding::new(who).about("disconnected").says(ended).query(query)
    };
    ended.map(report).collect()
}

/// How the words of the bus begin if a rule of the policy withholds a message.
const POLICY: [&str; 2] = ["Rejected send message", "Rejected receive message"];

const LIMITS_EXCEEDED: &str = "org.freedesktop.DBus.Error.LimitsExceeded";
