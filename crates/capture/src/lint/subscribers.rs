//! Findings about all match rules of one connection.

use super::context::LintContext;
use super::finding::{Confidence, Cost, Evidence, Finding, FindingSeverity};
use super::queries;
use super::traffic::TrafficParty;
use crate::collected::collected;
use crate::model::{CapturedMessageId, RecordedPeerId};
use crate::record::RecordedTime;
use crate::subscriptions::MatchRuleLifetime;

/// A connection with match rules.
pub(super) struct Subscriber<'s> {
    pub(super) peer: RecordedPeerId,
    /// Its match rules, each with its index in the history of all rules.
    pub(super) rules: Vec<(usize, &'s MatchRuleLifetime)>,
}

impl Subscriber<'_> {
    /// The time when the connection closed, if it did.
    pub(super) fn left(&self) -> Option<RecordedTime> {
        self.rules.first().and_then(|(_, one)| one.left())
    }

    /// The verb of the finding: "has", or "had" if the connection has closed.
    pub(super) fn has_or_had(&self) -> &'static str {
        if self.left().is_some() { "had" } else { "has" }
    }
}

/// A problem with the match rules of a connection.
pub(super) struct SubscriberFault {
    pub(super) says: String,
    pub(super) severity: FindingSeverity,
    pub(super) confidence: Confidence,
    /// The number of unnecessary rules.
    pub(super) rules: usize,
    /// The recorded calls that added the rules.
    pub(super) set_by: Vec<CapturedMessageId>,
}

/// Creates a finding for each connection for which `fault` finds a problem.
pub(super) fn at_fault<'l>(
    lint: &'l LintContext<'_>,
    fault: impl Fn(&Subscriber<'l>) -> Option<SubscriberFault>,
) -> Vec<Finding> {
    let rules = lint.subscriptions().all.iter().enumerate();
    let by_peer = collected(rules.map(|(place, one)| (one.peer, (place, one)))).into_iter();
    let subscribers = by_peer.map(|(peer, rules)| Subscriber { peer, rules });
    subscribers
        .filter_map(|subscriber| Some(report(lint, subscriber.peer, fault(&subscriber)?)))
        .collect()
}

fn report(lint: &LintContext<'_>, peer: RecordedPeerId, fault: SubscriberFault) -> Finding {
    let party = lint.party(TrafficParty::Peer(peer));
    let query = format!("{} member:AddMatch", queries::term("from", &party));
    Finding::new(party)
        .about("match-rules")
        .says(fault.says)
        .severity(fault.severity)
        .confidence(fault.confidence)
        .evidence(Evidence::of(fault.set_by))
        .costs(Cost { calls: fault.rules as u64, ..Cost::default() })
        .query(query)
}
