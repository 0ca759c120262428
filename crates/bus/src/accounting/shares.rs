//! Shares of a queue: the part of the queued data for one recipient that each user sent.
//!
//! A queue that is nearly empty accepts messages of all users. Once more than a quarter of it is
//! used, the bus counts the data of each user, and a user may not have more in the queue than is
//! still free. So one user can fill about half of a queue, two users a third each, and there is
//! always room for the messages of another user.

use alloc::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// The account that a queued message belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum QueueAccount {
    /// The user who sent the message; `None` for all senders whose user is unknown.
    User(Option<u32>),
    /// Not a user: the bus itself sent the message, or the recipient asked for it (a reply), or it
    /// was queued before the bus began to count.
    Unaccounted,
}

/// The bytes and the descriptors in one queue, by account.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Shares {
    bytes: Share,
    fds: Share,
}

impl Shares {
    /// Creates the shares of a queue that holds this many bytes and descriptors. They belong to no
    /// user.
    pub(super) fn after(bytes: u64, fds: u64) -> Self {
        let mut shares = Self { bytes: Share::default(), fds: Share::default() };
        shares.push(QueueAccount::Unaccounted, bytes, fds);
        shares
    }

    /// Adds a message at the end of the queue.
    pub(super) fn push(&mut self, account: QueueAccount, bytes: u64, fds: u64) {
        self.bytes.push(account, bytes);
        self.fds.push(account, fds);
    }

    /// Removes an amount that has left the front of the queue.
    pub(super) fn pop(&mut self, bytes: u64, fds: u64) {
        self.bytes.pop(bytes);
        self.fds.pop(fds);
    }

    /// Bytes in the queue that a user sent.
    pub(super) fn bytes_of(&self, user: Option<u32>) -> u64 {
        self.bytes.of(user)
    }

    /// Descriptors in the queue that a user sent.
    pub(super) fn fds_of(&self, user: Option<u32>) -> u64 {
        self.fds.of(user)
    }

    /// Checks the sums and returns all bytes and descriptors that are counted.
    ///
    /// # Panics
    ///
    /// Panics if the sum of a user differs from the sum of its messages.
    pub(super) fn check(&self) -> (u64, u64) {
        (self.bytes.check(), self.fds.check())
    }
}

/// The amount of one resource that each user has in a queue, in the order of the queue.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Share {
    /// Accounts in the order of the queue, each with the amount of its consecutive messages.
    runs: VecDeque<(QueueAccount, u64)>,
    users: BTreeMap<Option<u32>, u64>,
}

impl Share {
    fn of(&self, user: Option<u32>) -> u64 {
        self.users.get(&user).copied().unwrap_or_default()
    }

    fn push(&mut self, account: QueueAccount, count: u64) {
        if count == 0 {
            return;
        }
        if let QueueAccount::User(user) = account {
            *self.users.entry(user).or_default() += count;
        }
        match self.runs.back_mut() {
            Some((last, sum)) if *last == account => *sum += count,
            _ => self.runs.push_back((account, count)),
        }
    }

    fn pop(&mut self, mut count: u64) {
        while count > 0
            && let Some((account, left)) = self.runs.front_mut()
        {
            let taken = count.min(*left);
            count -= taken;
            *left -= taken;
            let (account, is_used_up) = (*account, *left == 0);
            if is_used_up {
                self.runs.pop_front();
            }
            if let QueueAccount::User(user) = account
                && let Some(sum) = self.users.get_mut(&user)
            {
                *sum -= taken;
                if *sum == 0 {
                    self.users.remove(&user);
                }
            }
        }
    }

    fn check(&self) -> u64 {
        let mut users = BTreeMap::<Option<u32>, u64>::new();
        for (account, count) in &self.runs {
            if let QueueAccount::User(user) = account {
                *users.entry(*user).or_default() += count;
            }
        }
        assert_eq!(users, self.users, "the sum of each user");
        self.runs.iter().map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    #[test]
    fn pop_reduces_the_shares_in_the_order_of_the_queue() {
        let mut share = Share::default();
        let (anna, bert) = (Some(1), Some(2));
        let pushed = [
            (QueueAccount::Unaccounted, 100),
            (QueueAccount::User(anna), 10),
            (QueueAccount::User(anna), 5),
            (QueueAccount::User(bert), 20),
            (QueueAccount::Unaccounted, 0),
            (QueueAccount::User(anna), 1),
        ];
        pushed.into_iter().for_each(|(account, count)| share.push(account, count));
        assert_eq!(share.runs.len(), 4, "neighbors of one account are one run");
        for (popped, expected) in [
            (0, (16, 20)),
            (100, (16, 20)),
            (12, (4, 20)),
            (4, (1, 19)),
            (19, (1, 0)),
            (1, (0, 0)),
            (5, (0, 0)),
        ] {
            share.pop(popped);
            assert_eq!((share.of(anna), share.of(bert)), expected, "after {popped} more");
        }
        assert!(share.runs.is_empty() && share.users.is_empty());
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let make = || {
            let mut share = Share::default();
            share.push(QueueAccount::User(Some(1)), 10);
            share.push(QueueAccount::Unaccounted, 5);
            share
        };
        let check = |share: &Share| assert_eq!(share.check(), 15);
        each_is_reported(
            make,
            check,
            &[
                ("the sum of a user", |share| {
                    share.users.insert(Some(1), 9);
                }),
                ("a user without messages", |share| {
                    share.users.insert(Some(2), 1);
                }),
                ("a message less of nobody", |share| {
                    share.runs.pop_back();
                }),
                ("a message less of a user", |share| {
                    share.runs.pop_front();
                }),
            ],
        );
    }
}
