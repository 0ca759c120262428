//! The queue of records that wait until copies of messages have been written.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::AssembledItem;
use crate::record::TracedDelivery;

/// The waiting records, oldest first.
///
/// Records are numbered from the first one ever added, so the numbers in copies stay valid when
/// records are removed from the front of the queue.
#[derive(Debug, Default)]
pub(super) struct PendingItems {
    waiting: VecDeque<WaitingItem>,
    /// The number of the first record in `waiting`.
    first: u64,
    bytes: ContiguousQueue<u8>,
    deliveries: ContiguousQueue<TracedDelivery>,
    /// The copies of each connection that were not written yet.
    copies: HashMap<u64, VecDeque<PendingCopy>, RandomState>,
}

#[derive(Debug)]
struct WaitingItem {
    at: Duration,
    since: Duration,
    item: AssembledItem,
    bytes: usize,
    deliveries: usize,
    /// The number of copies that were not written yet.
    outstanding: usize,
}

/// A copy that was not written yet.
#[derive(Clone, Debug)]
struct PendingCopy {
    /// The position of the copy in the stream of bytes to the connection.
    place: Range<u64>,
    /// The number of the message that it is a copy of.
    message: u64,
    /// The number of its delivery in the queue of deliveries.
    delivery: u64,
}

/// A record that was removed from the queue.
#[derive(Debug)]
pub(super) struct TakenItem<'a> {
    pub(super) at: Duration,
    pub(super) item: AssembledItem,
    pub(super) bytes: &'a [u8],
    pub(super) deliveries: &'a [TracedDelivery],
}

impl PendingItems {
    /// The number of bytes of all waiting records.
    pub(super) fn len_bytes(&self) -> usize {
        self.bytes.len()
            + self.deliveries.len() * size_of::<TracedDelivery>()
            + self.waiting.len() * size_of::<WaitingItem>()
    }

    /// Appends a record. A message waits from `since` on.
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

    /// Adds a copy of the last message, with its position in the stream of bytes to its recipient.
    pub(super) fn add_copy(&mut self, delivery: TracedDelivery, place: Range<u64>) {
        let message = self.first + self.waiting.len() as u64 - 1;
        let Some(waiting) = self.waiting.back_mut() else { return };
        waiting.deliveries += 1;
        waiting.outstanding += 1;
        let copy = PendingCopy { place, message, delivery: self.deliveries.end() };
        self.deliveries.append(&[delivery]);
        let copies = self.copies.entry(delivery.recipient).or_default();
        // Copies of messages that were already returned are the oldest.
        while copies.front().is_some_and(|copy| copy.message < self.first) {
            copies.pop_front();
        }
        copies.push_back(copy);
    }

    /// Records that a total of this many bytes was written to a connection.
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

    /// Stops waiting for copies to a connection that left.
    pub(super) fn left(&mut self, peer: u64) {
        for copy in self.copies.remove(&peer).unwrap_or_default() {
            if let Some(place) = copy.message.checked_sub(self.first) {
                self.waiting[place as usize].outstanding -= 1;
            }
        }
    }

    /// Stops waiting for all copies.
    pub(super) fn give_up_all(&mut self) {
        self.copies.clear();
        self.waiting.iter_mut().for_each(|waiting| waiting.outstanding = 0);
    }

    /// Returns true if the oldest record can be returned: all its copies were written, the queue is
    /// too large, or the record is at least as old as `deadline`.
    pub(super) fn is_ready(&self, is_over: bool, deadline: Option<Duration>) -> bool {
        self.waiting.front().is_some_and(|oldest| {
            oldest.outstanding == 0 || is_over || deadline.is_some_and(|it| oldest.since <= it)
        })
    }

    /// Removes the oldest record from the queue.
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

/// A queue whose front items are contiguous in memory.
#[derive(Debug)]
struct ContiguousQueue<T> {
    items: Vec<T>,
    start: usize,
    /// The number of the first item in `items`.
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

    /// The number of the next item to be added.
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

    /// Removes taken items from memory if they are the majority.
    fn compact(&mut self) {
        if self.start >= COMPACT_MIN && self.start >= self.items.len() / 2 {
            self.items.drain(..self.start);
            self.first += self.start as u64;
            self.start = 0;
        }
    }
}

/// The minimum number of taken items at which the remaining ones are moved.
const COMPACT_MIN: usize = 4096;
