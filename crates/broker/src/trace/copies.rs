//! The copies of each recorded message: its recipients and positions.

use bus::{PeerId, Span};
use trace::Delivered;

/// Copies of messages, grouped by message. The memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    all: Vec<Copy>,
    /// The deliveries of `all`, in the same order.
    delivered: Vec<Delivered>,
}

/// A copy of a message, which is identified by the position of its header.
#[derive(Clone, Copy, Debug)]
struct Copy {
    head: usize,
    /// The number of copies before this one.
    number: usize,
    recipient: PeerId,
    delivered: Delivered,
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    pub(crate) fn add(&mut self, head: Span, recipient: PeerId, delivered: Delivered) {
        let (head, number) = (head.start(), self.all.len());
        self.all.push(Copy { head, number, recipient, delivered });
    }

    /// Sorts the copies after the last one was added.
    pub(crate) fn finish(&mut self) {
        // Messages of the bus in between are recorded after the message that caused them.
        if !self.all.is_sorted_by_key(|copy| copy.head) {
            self.all.sort_unstable_by_key(|copy| (copy.head, copy.number));
        }
        self.delivered.clear();
        self.delivered.extend(self.all.iter().map(|copy| copy.delivered));
    }

    /// The copies of one message, and the recipient of the first one.
    #[inline]
    pub(crate) fn of(&self, head: Span) -> (Option<PeerId>, &[Delivered]) {
        let head = head.start();
        let start = self.all.partition_point(|copy| copy.head < head);
        let copies = &self.all[start..];
        let len = copies.partition_point(|copy| copy.head == head);
        (copies[..len].first().map(|copy| copy.recipient), &self.delivered[start..start + len])
    }
}
