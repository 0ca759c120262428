//! Who gets the messages that are being written down.

use bus::{PeerId, Span};
use trace::Delivered;

/// Copies of messages, to be found by message. The memory is kept.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    all: Vec<Copy>,
    /// Those of `all`, in its order.
    delivered: Vec<Delivered>,
}

/// A copy of a message, which is known by where its head stands.
#[derive(Clone, Copy, Debug)]
struct Copy {
    head: usize,
    /// How many copies were there before.
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

    /// All are there.
    pub(crate) fn finish(&mut self) {
        // What the bus says in between is written behind the message that it speaks of.
        if !self.all.is_sorted_by_key(|copy| copy.head) {
            self.all.sort_unstable_by_key(|copy| (copy.head, copy.number));
        }
        self.delivered.clear();
        self.delivered.extend(self.all.iter().map(|copy| copy.delivered));
    }

    /// Those of one message, and who has the first of them.
    #[inline]
    pub(crate) fn of(&self, head: Span) -> (Option<PeerId>, &[Delivered]) {
        let head = head.start();
        let start = self.all.partition_point(|copy| copy.head < head);
        let copies = &self.all[start..];
        let len = copies.partition_point(|copy| copy.head == head);
        (copies[..len].first().map(|copy| copy.recipient), &self.delivered[start..start + len])
    }
}
