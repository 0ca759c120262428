//! Who gets the messages that are being written down.

use bus::{PeerId, Span};
use trace::Delivered;

/// Copies of messages, to be found by message. The memory is kept.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// In the order of the messages, which are known by where their heads stand.
    keys: Vec<Key>,
    /// In the same order.
    delivered: Vec<Delivered>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    head: usize,
    /// How many copies were there before.
    number: usize,
    recipient: PeerId,
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.delivered.clear();
    }

    pub(crate) fn add(&mut self, head: Span, recipient: PeerId, delivered: Delivered) {
        self.keys.push(Key { head: head.start(), number: self.keys.len(), recipient });
        self.delivered.push(delivered);
    }

    /// All are there.
    pub(crate) fn finish(&mut self) {
        // What the bus says in between is written behind the message that it speaks of.
        if !self.keys.is_sorted_by_key(|key| key.head) {
            self.keys.sort_unstable();
            self.delivered = self.keys.iter().map(|key| self.delivered[key.number]).collect();
        }
    }

    /// Those of one message, and who has the first of them.
    #[inline]
    pub(crate) fn of(&self, head: Span) -> (Option<PeerId>, &[Delivered]) {
        let head = head.start();
        let start = self.keys.partition_point(|key| key.head < head);
        let keys = &self.keys[start..];
        let len = keys.partition_point(|key| key.head == head);
        (keys[..len].first().map(|key| key.recipient), &self.delivered[start..start + len])
    }
}
