//! Subscriptions and their queues of signals.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::mem;

use wire::match_rule::{MatchArgument, MatchRule, MatchSubject};
use wire::message::{Message, MessageType};

use super::Incoming;
use super::owners::WatchedOwners;

/// The identifier of a subscription.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SubscriptionId(u64);

/// An item of a subscription's queue: a signal, or a gap where signals were dropped.
pub enum SignalDelivery<D> {
    /// The next signal in the queue.
    Signal(Incoming<D>),
    /// Signals were dropped at this position because the queue was full.
    Lost {
        /// Number of dropped signals.
        count: u64,
    },
    /// The bus went away at this position, and the connection was restored. Signals may have been
    /// missed.
    Reconnected,
}

/// All subscriptions, indexed by the interface and the member in their rules.
///
/// A rule is in one bucket, selected by the hash of its interface and member (each may be absent).
/// The rules for a signal can be in four buckets. Each rule in these is matched completely, so hash
/// collisions do no harm.
pub(super) struct SubscriptionIndex<D> {
    subscriptions: HashMap<SubscriptionId, SubscriptionQueue<D>>,
    buckets: HashMap<u64, Vec<SubscriptionId>>,
    /// Randomly keyed, because peers choose the texts that are looked up.
    hasher: RandomState,
    next: u64,
    /// Maximum number of queued signals per subscription.
    queue_max: usize,
    /// Number of signals that were dropped because a queue was full.
    dropped: u64,
}

struct SubscriptionQueue<D> {
    rule: MatchRule,
    bucket: u64,
    queue: VecDeque<SignalDelivery<D>>,
    /// Number of signals dropped after the last entry of the queue.
    lost: u64,
}

impl<D> SubscriptionIndex<D> {
    pub(super) fn new(queue_max: usize) -> Self {
        Self {
            subscriptions: HashMap::new(),
            buckets: HashMap::new(),
            hasher: RandomState::new(),
            next: 0,
            queue_max,
            dropped: 0,
        }
    }

    /// Number of signals that were dropped because the queue of a subscription was full.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn add(&mut self, rule: MatchRule) -> SubscriptionId {
        let id = SubscriptionId(self.next);
        self.next += 1;
        let bucket = self.bucket(rule.interface(), rule.member());
        self.buckets.entry(bucket).or_default().push(id);
        let subscription = SubscriptionQueue { rule, bucket, queue: VecDeque::new(), lost: 0 };
        self.subscriptions.insert(id, subscription);
        id
    }

    /// Ends a subscription and returns its rule.
    pub(super) fn remove(&mut self, id: SubscriptionId) -> Option<MatchRule> {
        let removed = self.subscriptions.remove(&id)?;
        if let Some(bucket) = self.buckets.get_mut(&removed.bucket) {
            bucket.retain(|other| *other != id);
            if bucket.is_empty() {
                self.buckets.remove(&removed.bucket);
            }
        }
        Some(removed.rule)
    }

    /// Sets `found` to the subscriptions that select the signal.
    pub(super) fn select(
        &self,
        signal: &Message<'_>,
        owners: &WatchedOwners,
        found: &mut Vec<SubscriptionId>,
    ) {
        found.clear();
        if self.subscriptions.is_empty() {
            return;
        }
        let (interface, member) = (signal.interface(), signal.member());
        let (interface, member) = (interface.map(|i| i.as_str()), member.map(|m| m.as_str()));
        let subject = IncomingSubject { signal, owners };
        for key in [(interface, member), (interface, None), (None, member), (None, None)] {
            let bucket = self.buckets.get(&self.bucket(key.0, key.1));
            let selects = |id: &&SubscriptionId| self.subscriptions[id].rule.matches(&subject);
            found.extend(bucket.into_iter().flatten().filter(selects));
        }
    }

    pub(super) fn push(&mut self, id: SubscriptionId, signal: Incoming<D>) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else { return };
        // After a loss no signal is queued until `take` reported it, so that its position is known.
        if subscription.lost > 0 || subscription.queue.len() >= self.queue_max {
            subscription.lost += 1;
            self.dropped += 1;
        } else {
            subscription.queue.push_back(SignalDelivery::Signal(signal));
        }
    }

    /// Marks the position in all queues at which the connection was interrupted.
    pub(super) fn mark_reconnection(&mut self) {
        for subscription in self.subscriptions.values_mut() {
            match mem::take(&mut subscription.lost) {
                0 => {}
                count => subscription.queue.push_back(SignalDelivery::Lost { count }),
            }
            if !matches!(subscription.queue.back(), Some(SignalDelivery::Reconnected)) {
                subscription.queue.push_back(SignalDelivery::Reconnected);
            }
        }
    }

    /// Takes the next signal of a subscription.
    pub(super) fn take(&mut self, id: SubscriptionId) -> Option<SignalDelivery<D>> {
        let subscription = self.subscriptions.get_mut(&id)?;
        if let Some(next) = subscription.queue.pop_front() {
            return Some(next);
        }
        match mem::take(&mut subscription.lost) {
            0 => None,
            count => Some(SignalDelivery::Lost { count }),
        }
    }

    fn bucket(&self, interface: Option<&str>, member: Option<&str>) -> u64 {
        self.hasher.hash_one((interface, member))
    }
}

/// A signal as the subject of a match rule.
struct IncomingSubject<'s, 'm> {
    signal: &'s Message<'m>,
    owners: &'s WatchedOwners,
}

impl MatchSubject for IncomingSubject<'_, '_> {
    fn message_type(&self) -> MessageType {
        self.signal.message_type()
    }

    fn path(&self) -> Option<&str> {
        self.signal.path().map(|path| path.as_str())
    }

    fn interface(&self) -> Option<&str> {
        self.signal.interface().map(|interface| interface.as_str())
    }

    fn member(&self) -> Option<&str> {
        self.signal.member().map(|member| member.as_str())
    }

    fn is_sender(&self, name: &str) -> bool {
        let sender = self.signal.sender().map(|sender| sender.as_str());
        sender == Some(name) || (sender.is_some() && self.owners.owner(name) == sender)
    }

    fn is_destination(&self, name: &str) -> bool {
        self.signal.destination().is_some_and(|destination| destination == name)
    }

    fn arg(&self, index: u8) -> Option<MatchArgument<'_>> {
        self.signal.args().nth(index.into())
    }
}
