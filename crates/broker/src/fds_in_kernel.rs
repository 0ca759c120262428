//! File descriptors that the bus has written to sockets and that their recipients have not
//! received.
//!
//! The kernel counts them against the user of the bus and refuses more than its limit of open files
//! (`ETOOMANYREFS`), for all recipients. So each user on the bus may only have a share of them
//! unread. A user whose sockets hold too many descriptors gets no more until it has received some;
//! other users are not affected. Within this share, a connection may not have more unread
//! descriptors than are free, so that it leaves some to the other connections of its user.
//!
//! The kernel continues to count if the bus closes a connection and the peer does not. So the bus
//! shuts such a socket down and keeps it until the peer has received everything or has closed its
//! end.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::transfer::unreceived;

use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The descriptors in the socket of one connection.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct FdsInKernel {
    /// Where in the stream each write ended, in bytes since the connection was made, and how many
    /// descriptors it had.
    writes: VecDeque<(u64, u64)>,
    count: u64,
}

impl FdsInKernel {
    /// The number of descriptors that may be unread.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns true unless it was restored from damaged data.
    pub(crate) fn is_consistent(&self) -> bool {
        let sum = self.writes.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        sum == Some(self.count)
    }

    /// Notes that `count` descriptors were written, up to this position in the stream.
    pub(crate) fn wrote(&mut self, end: u64, count: u64) {
        self.writes.push_back((end, count));
        self.count += count;
    }

    /// Notes that everything before this position was received. Returns the number of received
    /// descriptors.
    pub(crate) fn received(&mut self, position: u64) -> u64 {
        let mut received = 0;
        while let Some(&(end, count)) = self.writes.front()
            && end <= position
        {
            self.writes.pop_front();
            received += count;
        }
        self.count -= received;
        received
    }

    /// Whether the list is long enough to find out what was received.
    pub(crate) fn is_long(&self) -> bool {
        self.writes.len() >= WRITES_MAX
    }
}

/// The descriptors in the sockets of each user.
#[derive(Debug)]
pub(crate) struct UserFds {
    users: BTreeMap<Option<u32>, Unread>,
    max: u64,
    closed: VecDeque<Closed>,
}

/// A socket that the bus has shut down, and whose peer may still have descriptors to receive.
#[derive(Debug)]
struct Closed {
    socket: OwnedFd,
    user: Option<u32>,
    count: u64,
}

/// The descriptors in the sockets of each user, in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedUserFds {
    users: Vec<(Option<u32>, Unread)>,
    /// Each socket that was shut down, its user, and the number of its unread descriptors.
    closed: Vec<(FdIndex, Option<u32>, u64)>,
}

#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
struct Unread {
    count: u64,
    /// Until this time, it is known that no more descriptors fit.
    full_until: Option<Duration>,
}

impl UserFds {
    /// Creates the accounts for a process that may have `open_files` open descriptors.
    pub(crate) const fn within(open_files: u64) -> Self {
        Self { users: BTreeMap::new(), max: open_files / SHARE, closed: VecDeque::new() }
    }

    /// Saves the accounts of all users.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedUserFds {
        let users = self.users.iter().map(|(user, unread)| (*user, *unread)).collect();
        let save = |closed: &'f Closed| (fds.add(&closed.socket), closed.user, closed.count);
        SavedUserFds { users, closed: self.closed.iter().map(save).collect() }
    }

    /// Restores the accounts in a process that may have `open_files` open descriptors.
    pub(crate) fn restore(
        saved: SavedUserFds,
        fds: &mut RestoredFds,
        open_files: u64,
    ) -> Result<Self, StateError> {
        let mut restored = Self::within(open_files);
        restored.users = saved.users.into_iter().collect();
        for (socket, user, count) in saved.closed {
            restored.closed.push_back(Closed { socket: fds.take(socket)?, user, count });
        }
        Ok(restored)
    }

    /// How many descriptors may be written now to a connection that has `own` unread, where the
    /// next message has `wanted`.
    pub(crate) fn allowance(&self, user: Option<u32>, own: u64, wanted: u64) -> u64 {
        let Some(unread) = self.users.get(&user) else {
            // Whatever the limit is, one message can always be delivered.
            return wanted.max(self.max / 2);
        };
        let free = self.max.saturating_sub(unread.count);
        // After `n` more the connection has `own + n`, which must not be more than `free - n`.
        let most = free.saturating_sub(own) / 2;
        if own == 0 { most.max(wanted.min(free)) } else { most }
    }

    /// Keeps a socket that was shut down while `count` descriptors in it may be unread.
    pub(crate) fn keep_closed(&mut self, socket: OwnedFd, user: Option<u32>, count: u64) {
        if self.closed.len() as u64 >= self.max * CLOSED_SHARES
            && let Some(Closed { user, count, .. }) = self.closed.pop_front()
        {
            self.subtract(user, count);
        }
        self.closed.push_back(Closed { socket, user, count });
    }

    /// Closes sockets that were shut down and whose peers have received everything, or have closed
    /// their end. Returns whether others remain.
    pub(crate) fn settle_closed(&mut self) -> bool {
        for _ in 0..self.closed.len().min(CLOSED_PER_LOOK) {
            let Some(closed) = self.closed.pop_front() else { break };
            match unreceived(&closed.socket) {
                Ok(0) | Err(_) => self.subtract(closed.user, closed.count),
                Ok(_) => self.closed.push_back(closed),
            }
        }
        !self.closed.is_empty()
    }

    pub(crate) fn add(&mut self, user: Option<u32>, count: u64) {
        self.users.entry(user).or_default().count += count;
    }

    pub(crate) fn subtract(&mut self, user: Option<u32>, count: u64) {
        if let Some(unread) = self.users.get_mut(&user) {
            unread.count = unread.count.saturating_sub(count);
            if unread.count == 0 {
                self.users.remove(&user);
            }
        }
    }

    /// Whether a recent check found that the user has received too little.
    pub(crate) fn is_full(&self, user: Option<u32>, now: Duration) -> bool {
        let full_until = self.users.get(&user).and_then(|unread| unread.full_until);
        full_until.is_some_and(|until| now < until)
    }

    /// Notes that a user has received too little.
    pub(crate) fn set_full(&mut self, user: Option<u32>, now: Duration) {
        if let Some(unread) = self.users.get_mut(&user) {
            unread.full_until = Some(now + FULL_FOR);
        }
    }
}

/// A user may have one part in this many of the descriptors that the process may have in kernel
/// buffers.
const SHARE: u64 = 4;

/// How long a user without allowance is not checked again.
const FULL_FOR: Duration = Duration::from_millis(10);

/// The maximum number of shut-down sockets that are kept open, divided by the share of one user.
/// Since each has at least one descriptor, one user has at most its share of them.
const CLOSED_SHARES: u64 = 2;

/// The maximum number of shut-down sockets to check at once.
const CLOSED_PER_LOOK: usize = 256;

/// The maximum number of remembered writes with descriptors of a connection before the bus checks
/// which of them were received.
const WRITES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_counted_until_their_bytes_are_received() {
        let mut fds = FdsInKernel::default();
        fds.wrote(100, 2);
        fds.wrote(300, 16);
        fds.wrote(350, 1);
        assert_eq!(fds.received(99), 0);
        assert_eq!(fds.received(300), 18);
        assert_eq!(fds.count(), 1);
        assert_eq!(fds.received(1000), 1);
        assert_eq!(fds.count(), 0);
    }

    #[test]
    fn a_user_may_have_a_quarter_of_the_unread_descriptors_and_always_one_message() {
        let (one, other) = (Some(1000), Some(1001));
        let mut users = UserFds::within(64);
        assert_eq!(users.allowance(one, 0, 1), 8);
        assert_eq!(users.allowance(one, 0, 253), 253);
        users.add(one, 10);
        assert_eq!(users.allowance(one, 0, 7), 6);
        users.add(one, 10);
        assert_eq!(users.allowance(one, 0, 1), 0);
        assert_eq!(users.allowance(other, 0, 1), 8);
        users.subtract(one, 20);
        assert_eq!(users.allowance(one, 0, 1), 8);
    }

    #[test]
    fn a_connection_leaves_some_to_others_of_its_user() {
        let user = Some(1000);
        let mut users = UserFds::within(400);
        let mut left = 100;
        for expected in [50, 25, 12, 6, 3, 2] {
            let mut own = 0;
            loop {
                let allowed = users.allowance(user, own, 1);
                if allowed == 0 {
                    break;
                }
                users.add(user, 1);
                own += 1;
            }
            assert_eq!(own, expected, "of {left}");
            left -= own;
        }
    }

    #[test]
    fn a_socket_that_was_shut_down_counts_until_its_peer_has_received_everything() {
        let user = Some(1000);
        let mut users = UserFds::within(64);
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
        sys::transfer::send(
            &ours,
            &[std::io::IoSlice::new(b"x")],
            &[],
            sys::transfer::TransferWait::Never,
        )
        .expect("the socket is empty");
        users.add(user, 16);
        sys::transfer::shut_down(&ours).expect("it is connected");
        users.keep_closed(ours.into(), user, 16);
        assert!(users.settle_closed());
        assert_eq!(users.allowance(user, 0, 1), 0);
        drop(theirs);
        assert!(!users.settle_closed());
        assert_eq!(users.allowance(user, 0, 1), 8);
    }

    #[test]
    fn a_user_without_allowance_is_checked_again_after_a_while() {
        let mut users = UserFds::within(64);
        let now = Duration::from_secs(1);
        users.add(None, 16);
        assert!(!users.is_full(None, now));
        users.set_full(None, now);
        assert!(users.is_full(None, now + FULL_FOR / 2));
        assert!(!users.is_full(None, now + FULL_FOR));
    }
}
