//! Who got which signals, by the match rules that are known.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::finding::Evidence;
use super::traffic::CheckedTraffic;
use crate::model::{CapturedMessage, RecordedPeerId, TextId};
use crate::recipients::SignalRecipients;
use crate::record::RecordedTime;
use crate::rule_index::{RuleIndex, Selecting};
use crate::subscriptions::MatchRuleHistory;

/// Who got which signals.
#[derive(Debug, Default)]
pub(super) struct RuleAudience<'c> {
    /// Broadcast signals whose recipients are known, with their number.
    pub(super) heard: Vec<(CapturedMessage<'c>, u64)>,
    /// By place of a rule: what it selected.
    pub(super) selected: Vec<RuleSelection>,
    /// By connection, sender and interface: what reached it.
    pub(super) reached: HashMap<(RecordedPeerId, TextId, TextId), Reached, RandomState>,
}

/// What a match rule has selected.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSelection {
    pub(super) messages: Evidence,
    /// Messages that it may have selected; the arguments that it asks for cannot be read.
    pub(super) unread: u64,
    /// Different senders, as far as they were counted.
    pub(super) senders: Vec<TextId>,
}

/// Signals of one sender and interface that reached a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached {
    pub(super) messages: Evidence,
    pub(super) bytes: u64,
    /// After how many of them it sent something soon.
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
            let Selecting { mut rules, unsure } = index.selecting(subscriptions, signal);
            unsure.iter().for_each(|&rule| audience.selected[rule].unread += 1);
            rules.iter().for_each(|&rule| audience.selected[rule].add(signal));
            rules.dedup_by_key(|&mut rule| subscriptions.all[rule].peer);
            for peer in rules.iter().map(|&rule| subscriptions.all[rule].peer) {
                audience.reach(peer, signal, &sent);
            }
            if let Some(count) = count(lint, recipients.as_mut(), signal) {
                audience.heard.push((*signal, count));
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

/// The recipients of a signal, if they are known.
fn count(
    lint: &CheckedTraffic<'_>,
    recipients: Option<&mut SignalRecipients>,
    signal: &CapturedMessage<'_>,
) -> Option<u64> {
    // If headers were cut, calls that set match rules may be among these messages.
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

/// When each connection has sent something.
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

/// Whether a connection has sent something soon after this time.
fn reacts(sent: &SentTimes, peer: RecordedPeerId, at: RecordedTime) -> bool {
    let Some(times) = sent.get(&peer) else { return false };
    let next = times.partition_point(|&time| time <= at);
    times.get(next).is_some_and(|&time| time <= at.after(REACTION))
}

/// Who sends something within this time after a signal may have done so because of it.
const REACTION: Duration = Duration::from_millis(10);

/// Senders beyond this number are not told apart.
const SENDERS_COUNTED: usize = 16;
