//! The recipients of signals, derived from the known match rules.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::finding::Evidence;
use super::traffic::CheckedTraffic;
use crate::model::{CapturedMessage, RecordedPeerId, TextId};
use crate::recipients::SignalRecipients;
use crate::record::RecordedTime;
use crate::rule_index::{MatchedRules, RuleIndex};
use crate::subscriptions::MatchRuleHistory;

/// The recipients of broadcast signals, and the signals that each match rule matched.
#[derive(Debug, Default)]
pub(super) struct RuleAudience<'c> {
    /// Broadcast signals with a known number of recipients, each with this number.
    pub(super) counted: Vec<(CapturedMessage<'c>, u64)>,
    /// The signals that each match rule matched, indexed like the rules of the history.
    pub(super) selected: Vec<RuleSelection>,
    /// The signals that reached a connection, by connection, sender and interface.
    pub(super) reached: HashMap<(RecordedPeerId, TextId, TextId), ReachedSignals, RandomState>,
}

/// The signals that a match rule matched.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSelection {
    pub(super) messages: Evidence,
    /// The number of signals that the rule may have matched: its argument conditions cannot be
    /// checked.
    pub(super) unread: u64,
    /// Different senders of these signals, at most [`SENDERS_COUNTED`].
    pub(super) senders: Vec<TextId>,
}

/// Signals of one sender and interface that reached a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct ReachedSignals {
    pub(super) messages: Evidence,
    pub(super) bytes: u64,
    /// The number of these signals after which the connection sent a message within [`REACTION`].
    pub(super) reactions: u64,
}

impl<'c> RuleAudience<'c> {
    pub(super) fn find(lint: &CheckedTraffic<'c>, subscriptions: &MatchRuleHistory) -> Self {
        let mut index = RuleIndex::default();
        let mut recipients = SignalRecipients::find(lint.capture).ok();
        let sent = sent_times(lint, subscriptions);
        let mut audience = Self {
            selected: vec![RuleSelection::default(); subscriptions.all.len()],
            ..Self::default()
        };
        for signal in lint.signals.iter().filter(|signal| signal.destination_id().is_none()) {
            let MatchedRules { mut rules, unsure } = index.selecting(subscriptions, signal);
            unsure.iter().for_each(|&rule| audience.selected[rule].unread += 1);
            rules.iter().for_each(|&rule| audience.selected[rule].add(signal));
            rules.dedup_by_key(|&mut rule| subscriptions.all[rule].peer);
            for peer in rules.iter().map(|&rule| subscriptions.all[rule].peer) {
                audience.reach(peer, signal, &sent);
            }
            if let Some(count) = count(lint, recipients.as_mut(), signal) {
                audience.counted.push((*signal, count));
            }
        }
        audience
    }

    fn reach(&mut self, peer: RecordedPeerId, signal: &CapturedMessage<'c>, sent: &SentTimes) {
        let key = (peer, signal.sender_id(), signal.interface_id());
        let reached = self.reached.entry(key).or_default();
        reached.messages.add(signal.id());
        reached.bytes += u64::from(signal.len());
        reached.reactions += u64::from(reacts(sent, peer, signal.at()));
    }
}

/// The number of recipients of a signal, if it is known.
fn count(
    lint: &CheckedTraffic<'_>,
    recipients: Option<&mut SignalRecipients>,
    signal: &CapturedMessage<'_>,
) -> Option<u64> {
    // Messages with cut headers may include calls that added match rules.
    if signal.deliveries().is_none() && lint.lacks_headers(signal.bus()) {
        return None;
    }
    recipients?.of(signal).ok().flatten()
}

impl RuleSelection {
    fn add(&mut self, signal: &CapturedMessage<'_>) {
        self.messages.add(signal.id());
        if self.senders.len() < SENDERS_COUNTED && !self.senders.contains(&signal.sender_id()) {
            self.senders.push(signal.sender_id());
        }
    }
}

/// The times at which each connection sent a message, sorted.
type SentTimes = HashMap<RecordedPeerId, Vec<RecordedTime>, RandomState>;

fn sent_times(lint: &CheckedTraffic<'_>, subscriptions: &MatchRuleHistory) -> SentTimes {
    let mut sent = SentTimes::default();
    for one in &subscriptions.all {
        sent.entry(one.peer).or_default();
    }
    for message in lint.capture.messages() {
        if let Some(times) = message.from().and_then(|peer| sent.get_mut(&peer)) {
            times.push(message.at());
        }
    }
    sent.values_mut().for_each(|times| times.sort_unstable());
    sent
}

/// Returns true if a connection sent a message within [`REACTION`] after this time.
fn reacts(sent: &SentTimes, peer: RecordedPeerId, at: RecordedTime) -> bool {
    let Some(times) = sent.get(&peer) else { return false };
    let next = times.partition_point(|&time| time <= at);
    times.get(next).is_some_and(|&time| time <= at.after(REACTION))
}

/// A message within this time after a signal may be a reaction to it.
const REACTION: Duration = Duration::from_millis(10);

/// The number of senders after which further ones are not counted.
const SENDERS_COUNTED: usize = 16;
