//! The number of descriptors that each user makes the bus keep open: with incomplete messages, with
//! messages held for activation, with messages in the queues of recipients, and with ends of lanes
//! that wait to be read.
//!
//! These descriptors count against the bus's limit of open files, which it also needs to accept
//! connections. So each user has a quota.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use crate::saved_state::FdOwner;

/// The number of open descriptors of one user.
#[derive(Debug)]
struct UserCount {
    user: Option<u32>,
    open: Cell<u64>,
}

/// A descriptor of a message, counted against the user that sent it or asked for it.
#[derive(Debug)]
pub(crate) struct CountedFd {
    fd: OwnedFd,
    /// The counter of the user; `None` for a descriptor of the bus itself.
    count: Option<Rc<UserCount>>,
}

impl CountedFd {
    fn counted(fd: OwnedFd, count: &Rc<UserCount>) -> Self {
        count.open.set(count.open.get() + 1);
        Self { fd, count: Some(Rc::clone(count)) }
    }

    /// The user that it counts against.
    pub(crate) fn owner(&self) -> FdOwner {
        self.count.as_ref().map_or(FdOwner::Bus, |count| FdOwner::User(count.user))
    }
}

/// A descriptor of the bus itself.
impl From<OwnedFd> for CountedFd {
    fn from(fd: OwnedFd) -> Self {
        Self { fd, count: None }
    }
}

impl AsFd for CountedFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for CountedFd {
    fn drop(&mut self) {
        if let Some(count) = &self.count {
            count.open.set(count.open.get() - 1);
        }
    }
}

/// The quota of every user, and how much of it is in use.
#[derive(Debug)]
pub(crate) struct FdQuotas {
    users: BTreeMap<Option<u32>, Rc<UserCount>>,
    max: u64,
}

/// The error of a user that has reached its quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QuotaReached;

impl fmt::Display for QuotaReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many descriptors of the user wait in the bus")
    }
}

impl Error for QuotaReached {}

impl FdQuotas {
    /// Creates the quotas for a process that may have `open_files` open descriptors.
    pub(crate) const fn within(open_files: u64) -> Self {
        Self { users: BTreeMap::new(), max: open_files / QUOTA_DIVISOR }
    }

    /// Counts descriptors from or for a user, and moves them to `counted`. A user
    /// without open descriptors may always send one message. If the quota is reached, all of `fds`
    /// are closed.
    pub(crate) fn take(
        &mut self,
        user: Option<u32>,
        fds: &mut Vec<OwnedFd>,
        counted: &mut Vec<CountedFd>,
    ) -> Result<(), QuotaReached> {
        let count = self.count(user);
        let open = count.open.get();
        if open > 0 && open + fds.len() as u64 > self.max {
            fds.clear();
            return Err(QuotaReached);
        }
        counted.extend(fds.drain(..).map(|fd| CountedFd::counted(fd, &count)));
        if self.users.len() > USERS_KEPT {
            self.users.retain(|_, count| count.open.get() > 0);
        }
        Ok(())
    }

    /// Counts a descriptor of a restored state, even if that exceeds the quota.
    pub(crate) fn restore(&mut self, fd: OwnedFd, owner: FdOwner) -> CountedFd {
        match owner {
            FdOwner::Bus => fd.into(),
            FdOwner::User(user) => CountedFd::counted(fd, &self.count(user)),
        }
    }

    fn count(&mut self, user: Option<u32>) -> Rc<UserCount> {
        let new = || Rc::new(UserCount { user, open: Cell::new(0) });
        Rc::clone(self.users.entry(user).or_insert_with(new))
    }
}

/// The quota is the limit of open files divided by this.
const QUOTA_DIVISOR: u64 = 4;

/// Users without open descriptors that may stay in the map.
const USERS_KEPT: usize = 64;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn open(count: usize) -> Vec<OwnedFd> {
        let open = || OwnedFd::from(File::open("/dev/null").expect("it is always there"));
        (0..count).map(|_| open()).collect()
    }

    #[test]
    fn the_quota_is_a_quarter_and_one_message_always_fits() {
        let (one, other) = (Some(1000), Some(1001));
        let mut quotas = FdQuotas::within(64);
        let mut counted = Vec::new();
        let mut fds = open(20);
        assert_eq!(quotas.take(one, &mut fds, &mut counted), Ok(()), "it has nothing counted");
        counted.truncate(10);
        for (user, count, expected) in [
            (one, 6, Ok(())),
            (one, 1, Err(QuotaReached)),
            (other, 16, Ok(())),
            (other, 1, Err(QuotaReached)),
        ] {
            let mut fds = open(count);
            assert_eq!(quotas.take(user, &mut fds, &mut counted), expected, "{user:?}");
            assert!(fds.is_empty());
        }
        counted.clear();
        assert_eq!(
            quotas.take(one, &mut open(16), &mut counted),
            Ok(()),
            "closed descriptors do not count"
        );
    }
}
