//! What waits for copies to leave the bus, first in, first out.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::AssembledItem;
use crate::record::TracedDelivery;

/// What waits, oldest first.
///
/// Things are counted from the first one that ever came, so that what is remembered of a copy stays
/// right while the front of the queue goes.
#[derive(Debug, Default)]
pub(super) struct PendingItems {
    waiting: VecDeque<WaitingItem>,
    /// The number of the first one in `waiting`.
    first: u64,
    bytes: ContiguousQueue<u8>,
    deliveries: ContiguousQueue<TracedDelivery>,
    /// By connection, the copies that have not left.
    copies: HashMap<u64, VecDeque<PendingCopy>, RandomState>,
}

#[derive(Debug)]
struct WaitingItem {
    at: Duration,
    since: Duration,
    item: AssembledItem,
    bytes: usize,
    deliveries: usize,
    /// Copies that have not left.
    outstanding: usize,
}

/// A copy that has not left.
#[derive(Clone, Debug)]
struct PendingCopy {
    /// Its place in the stream of bytes to the connection.
    place: Range<u64>,
    /// The number of the message.
    message: u64,
    /// The number of the delivery.
    delivery: u64,
}

/// Something that has come out.
#[derive(Debug)]
pub(super) struct TakenItem<'a> {
    pub(super) at: Duration,
    pub(super) item: AssembledItem,
    pub(super) bytes: &'a [u8],
    pub(super) deliveries: &'a [TracedDelivery],
}

impl PendingItems {
    /// Bytes of all that waits.
    pub(super) fn len_bytes(&self) -> usize {
        self.bytes.len()
            + self.deliveries.len() * size_of::<TracedDelivery>()
            + self.waiting.len() * size_of::<WaitingItem>()
    }

    /// Puts something at the end. If it is a message it waits from `since` on.
    pub(super) fn push(
        &mut self,
        at: Duration,
        since: Duration,
        item: AssembledItem,
        bytes: &[&[u8]],
    ) {
        bytes.iter().for_each(|part| self.bytes.append(part));
        let bytes = bytes.iter().map(|part| part.len()).sum();
        self.waiting.push_back(WaitingItem {
            at,
            since,
            item,
            bytes,
            deliveries: 0,
            outstanding: 0,
        });
    }

    /// The last message has a copy, at this place in the stream of bytes to its recipient.
    pub(super) fn expect(&mut self, delivery: TracedDelivery, place: Range<u64>) {
        let message = self.first + self.waiting.len() as u64 - 1;
        let Some(waiting) = self.waiting.back_mut() else { return };
        waiting.deliveries += 1;
        waiting.outstanding += 1;
        let copy = PendingCopy { place, message, delivery: self.deliveries.end() };
        self.deliveries.append(&[delivery]);
        let copies = self.copies.entry(delivery.recipient).or_default();
        // Those of messages that have come out are the oldest.
        while copies.front().is_some_and(|copy| copy.message < self.first) {
            copies.pop_front();
        }
        copies.push_back(copy);
    }

    /// So many bytes have left for a connection.
    pub(super) fn written(&mut self, to: u64, total: u64, at: Duration) {
        let Some(copies) = self.copies.get_mut(&to) else { return };
        while let Some(copy) = copies.front().filter(|copy| copy.place.start < total) {
            if let Some(index) = copy.message.checked_sub(self.first) {
                let waiting = &mut self.waiting[index as usize];
                let after = at.saturating_sub(waiting.at);
                let delivery = self.deliveries.get_mut(copy.delivery);
                delivery.begun_after.get_or_insert(after);
                if copy.place.end <= total {
                    waiting.outstanding -= 1;
                    delivery.written_after = Some(after);
                }
            }
            if copy.place.end > total {
                break;
            }
            copies.pop_front();
        }
    }

    /// Nothing more leaves for a connection.
    pub(super) fn left(&mut self, peer: u64) {
        for copy in self.copies.remove(&peer).unwrap_or_default() {
            if let Some(place) = copy.message.checked_sub(self.first) {
                self.waiting[place as usize].outstanding -= 1;
            }
        }
    }

    /// Nobody waits any longer.
    pub(super) fn give_up_all(&mut self) {
        self.copies.clear();
        self.waiting.iter_mut().for_each(|waiting| waiting.outstanding = 0);
    }

    /// Whether all copies of the oldest have left, or it must go: since there is no room or it is
    /// not younger than `deadline`.
    pub(super) fn is_ready(&self, is_over: bool, deadline: Option<Duration>) -> bool {
        self.waiting.front().is_some_and(|oldest| {
            oldest.outstanding == 0 || is_over || deadline.is_some_and(|it| oldest.since <= it)
        })
    }

    /// Takes the oldest.
    pub(super) fn take(&mut self) -> Option<TakenItem<'_>> {
        let waiting = self.waiting.pop_front()?;
        self.first += 1;
        Some(TakenItem {
            at: waiting.at,
            item: waiting.item,
            bytes: self.bytes.take(waiting.bytes),
            deliveries: self.deliveries.take(waiting.deliveries),
        })
    }
}

/// A queue whose front can be had in one piece.
#[derive(Debug)]
struct ContiguousQueue<T> {
    items: Vec<T>,
    start: usize,
    /// The number of the first item in the vector.
    first: u64,
}

impl<T> Default for ContiguousQueue<T> {
    fn default() -> Self {
        Self { items: Vec::new(), start: 0, first: 0 }
    }
}

impl<T: Clone> ContiguousQueue<T> {
    fn len(&self) -> usize {
        self.items.len() - self.start
    }

    /// The number of the next item to come.
    fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    fn append(&mut self, items: &[T]) {
        self.compact();
        self.items.extend_from_slice(items);
    }

    fn get_mut(&mut self, number: u64) -> &mut T {
        &mut self.items[(number - self.first) as usize]
    }

    fn take(&mut self, count: usize) -> &[T] {
        let start = self.start;
        self.start += count;
        &self.items[start..self.start]
    }

    /// Forgets what was taken, when that is most of it.
    fn compact(&mut self) {
        if self.start >= COMPACT_MIN && self.start >= self.items.len() / 2 {
            self.items.drain(..self.start);
            self.first += self.start as u64;
            self.start = 0;
        }
    }
}

/// From how many taken items on the rest is moved together.
const COMPACT_MIN: usize = 4096;
