//! The queue of one connection: the amount that waits to be read, and its limits.
//!
//! The daemon holds the bytes. The bus counts them here, so that it can refuse or drop a message
//! before the message is queued.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use super::shares::{QueueAccount, Shares};
use crate::types::{Amount, BusLimits, LimitHit, LimitName};

/// The messages that are queued for one connection.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    queued: Amount,
    limits: QueueLimits,
    /// The amount that each user has in the queue, while the queue is crowded.
    shares: Option<Box<Shares>>,
    peak_bytes: u64,
    peak_fds: u64,
}

/// The limits of one queue, and the amounts above which it is crowded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct QueueLimits {
    bytes: u64,
    fds: u64,
    crowded_bytes: u64,
    crowded_fds: u64,
}

impl QueueLimits {
    const fn of(limits: &BusLimits) -> Self {
        Self {
            bytes: limits.max_outgoing_bytes,
            fds: limits.max_outgoing_unix_fds,
            crowded_bytes: limits.max_outgoing_bytes / CROWDED,
            crowded_fds: limits.max_outgoing_unix_fds / CROWDED,
        }
    }
}

impl Queue {
    /// Creates an empty queue.
    pub(crate) const fn new(limits: &BusLimits) -> Self {
        let (queued, limits) = (Amount { messages: 0, bytes: 0, fds: 0 }, QueueLimits::of(limits));
        Self { queued, limits, shares: None, peak_bytes: 0, peak_fds: 0 }
    }

    /// Applies new limits to the present and to future messages.
    pub(crate) const fn set_limits(&mut self, limits: &BusLimits) {
        self.limits = QueueLimits::of(limits);
    }

    /// The amount that waits to be read.
    #[inline]
    pub(crate) const fn amount(&self) -> Amount {
        self.queued
    }

    /// The most bytes and the most descriptors that ever waited.
    pub(crate) const fn peaks(&self) -> (u64, u64) {
        (self.peak_bytes, self.peak_fds)
    }

    /// True if there is no room for another message with this many descriptors. One message may
    /// exceed the limit, so that a limit below the size of a message does not stop all messages.
    #[inline]
    pub(crate) const fn is_full(&self, fds: u32) -> bool {
        self.queued.bytes > self.limits.bytes || (fds > 0 && self.queued.fds > self.limits.fds)
    }

    /// True if the connection keeps up: the queue is at most half full.
    #[inline]
    pub(crate) const fn keeps_up(&self) -> bool {
        self.queued.bytes <= self.limits.bytes / 2 && self.queued.fds <= self.limits.fds / 2
    }

    /// The limit that leaves no room, for all messages or for the messages of one user. Of bytes
    /// and descriptors, it is the one of which the larger part is used.
    pub(crate) const fn limit_hit(&self) -> LimitHit {
        let (queued, bytes, fds) = (self.queued, self.limits.bytes, self.limits.fds);
        let is_bytes = queued.bytes.saturating_mul(fds) >= queued.fds.saturating_mul(bytes);
        if queued.bytes > bytes || (queued.fds <= fds && is_bytes) {
            return LimitHit { limit: LimitName::OutgoingBytes, max: bytes, used: queued.bytes };
        }
        LimitHit { limit: LimitName::OutgoingFds, max: fds, used: queued.fds }
    }

    /// Adds one message to the queue.
    #[inline]
    pub(crate) fn push(&mut self, bytes: u64, fds: u64) {
        self.queued.messages += 1;
        self.queued.bytes += bytes;
        self.queued.fds += fds;
        self.peak_bytes = self.peak_bytes.max(self.queued.bytes);
        self.peak_fds = self.peak_fds.max(self.queued.fds);
    }

    /// Records that a queued message has become longer. The additional bytes belong to no user.
    pub(crate) fn grow(&mut self, bytes: u64) {
        if let Some(shares) = &mut self.shares {
            shares.push(QueueAccount::Unaccounted, bytes, 0);
        }
        self.queued.bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(self.queued.bytes);
    }

    /// True if the queue is so full that the bus counts the share of each user. A full queue is
    /// crowded, too.
    #[inline]
    pub(crate) const fn is_crowded(&self) -> bool {
        self.queued.bytes > self.limits.crowded_bytes
            || self.queued.fds > self.limits.crowded_fds
            || self.shares.is_some()
    }

    /// Adds one message to a crowded queue, and to the share of its account.
    #[cold]
    pub(crate) fn push_for(&mut self, account: QueueAccount, bytes: u64, fds: u64) {
        let queued = self.queued;
        let shares =
            self.shares.get_or_insert_with(|| Box::new(Shares::after(queued.bytes, queued.fds)));
        shares.push(account, bytes, fds);
        self.push(bytes, fds);
    }

    /// True if a user has more in this queue than is free. The rest of the queue is then for other
    /// users.
    #[inline]
    pub(crate) fn has_used_share(&self, user: Option<u32>, fds: u32) -> bool {
        self.shares.as_ref().is_some_and(|shares| {
            let free_bytes = self.limits.bytes.saturating_sub(self.queued.bytes);
            let free_fds = self.limits.fds.saturating_sub(self.queued.fds);
            shares.bytes_of(user) > free_bytes || (fds > 0 && shares.fds_of(user) > free_fds)
        })
    }

    /// Removes an amount that has left the front of the queue.
    #[inline]
    pub(crate) fn pop(&mut self, amount: Amount) {
        debug_assert!(self.queued.bytes >= amount.bytes, "more has left than was queued");
        self.queued.subtract(amount);
        if self.shares.is_some() {
            self.pop_shares(amount);
        }
    }

    #[cold]
    fn pop_shares(&mut self, amount: Amount) {
        let (queued, limits) = (self.queued, self.limits);
        if queued.bytes <= limits.bytes / SPARSE && queued.fds <= limits.fds / SPARSE {
            self.shares = None;
        } else if let Some(shares) = &mut self.shares {
            shares.pop(amount.bytes, amount.fds);
        }
    }

    /// Checks that the shares add up to the amount in the queue.
    ///
    /// # Panics
    ///
    /// Panics if they do not add up.
    pub(crate) fn check(&self) {
        let Self { queued, shares, peak_bytes, peak_fds, .. } = self;
        assert!(queued.messages > 0 || (queued.bytes, queued.fds) == (0, 0), "{queued:?}");
        assert!(*peak_bytes >= queued.bytes && *peak_fds >= queued.fds, "{self:?}");
        if let Some(shares) = shares {
            assert_eq!(shares.check(), (queued.bytes, queued.fds), "shares of {queued:?}");
        }
    }
}

/// A queue is crowded when it holds more than its limit divided by this.
const CROWDED: u64 = 4;

/// A crowded queue stays crowded until it holds at most its limit divided by this.
const SPARSE: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    fn queue() -> Queue {
        let mut queue = Queue::new(&BusLimits::default());
        queue.push(10, 1);
        queue.push_for(QueueAccount::User(Some(7)), 20, 2);
        queue
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            queue,
            Queue::check,
            &[
                ("bytes of no message", |queue| queue.queued.messages = 0),
                ("bytes", |queue| queue.queued.bytes -= 1),
                ("descriptors", |queue| queue.queued.fds -= 1),
                ("the peak of bytes", |queue| queue.peak_bytes = 0),
                ("the peak of descriptors", |queue| queue.peak_fds = 0),
                ("shares of another queue", |queue| {
                    queue.shares = Some(Box::new(Shares::after(1, 3)))
                }),
            ],
        );
    }
}
