//! Findings about all match rules of a connection together.

use super::context::LintContext;
use super::finding::{Confidence, Cost, Evidence, Finding, FindingSeverity};
use super::queries;
use super::traffic::TrafficParty;
use crate::collected::collected;
use crate::model::{CapturedMessageId, RecordedPeerId};
use crate::record::RecordedTime;
use crate::subscriptions::MatchRuleLifetime;

/// A connection that has match rules.
pub(super) struct Subscriber<'s> {
    pub(super) peer: RecordedPeerId,
    /// Its rules, each with its place among those of all.
    pub(super) rules: Vec<(usize, &'s MatchRuleLifetime)>,
}

impl Subscriber<'_> {
    /// When the connection left.
    pub(super) fn left(&self) -> Option<RecordedTime> {
        self.rules.first().and_then(|(_, one)| one.left())
    }

    /// The verb for what it has now, or had when it left.
    pub(super) fn has_or_had(&self) -> &'static str {
        if self.left().is_some() { "had" } else { "has" }
    }
}

/// What is wrong with the match rules of a connection.
pub(super) struct SubscriberFault {
    pub(super) says: String,
    pub(super) severity: FindingSeverity,
    pub(super) confidence: Confidence,
    /// How many rules need not be.
    pub(super) rules: usize,
    /// The calls that set them, as far as they were recorded.
    pub(super) set_by: Vec<CapturedMessageId>,
}

/// A finding for each connection whose match rules are at fault.
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
    let who = lint.who(TrafficParty::Peer(peer));
    let query = format!("{} member:AddMatch", queries::term("from", &who));
    Finding::new(who)
        .about("match-rules")
        .says(fault.says)
        .severity(fault.severity)
        .confidence(fault.confidence)
        .evidence(Evidence::of(fault.set_by))
        .costs(Cost { calls: fault.rules as u64, ..Cost::default() })
        .query(query)
}
