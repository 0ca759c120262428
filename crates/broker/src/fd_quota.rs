//! Descriptors that the bus holds open for those who sent them: with messages that are not complete,
//! that wait for a service, or that are queued for recipients.
//!
//! They count against the limit of open files of the bus, which others need to connect. So no user may
//! have the bus hold more than a share of that limit.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// How many descriptors one user has the bus hold.
type Count = Rc<Cell<u64>>;

/// A descriptor that travels with a message.
#[derive(Debug)]
pub(crate) struct HeldFd {
    fd: OwnedFd,
    /// Where it is counted; `None` for a descriptor of the bus itself.
    count: Option<Count>,
}

impl HeldFd {
    fn counted(fd: OwnedFd, count: &Count) -> Self {
        count.set(count.get() + 1);
        Self { fd, count: Some(Rc::clone(count)) }
    }
}

/// A descriptor of the bus itself.
impl From<OwnedFd> for HeldFd {
    fn from(fd: OwnedFd) -> Self {
        Self { fd, count: None }
    }
}

impl AsFd for HeldFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for HeldFd {
    fn drop(&mut self) {
        if let Some(count) = &self.count {
            count.set(count.get() - 1);
        }
    }
}

/// What each user has the bus hold.
#[derive(Debug)]
pub(crate) struct Holders {
    users: BTreeMap<Option<u32>, Count>,
    max: u64,
}

/// A user has the bus hold too many descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OverShare;

impl Holders {
    /// With a share of `open_files`, the descriptors that the process may have open.
    pub(crate) const fn within(open_files: u64) -> Self {
        Self { users: BTreeMap::new(), max: open_files / SHARE }
    }

    /// Moves descriptors that have come from a user to those that are held. Whatever the limit is, a
    /// user that has nothing held may send one message. If it is exceeded, all of them are closed.
    pub(crate) fn take(
        &mut self,
        user: Option<u32>,
        fds: &mut Vec<OwnedFd>,
        held: &mut Vec<HeldFd>,
    ) -> Result<(), OverShare> {
        let count = self.users.entry(user).or_default();
        if count.get() > 0 && count.get() + fds.len() as u64 > self.max {
            fds.clear();
            return Err(OverShare);
        }
        held.extend(fds.drain(..).map(|fd| HeldFd::counted(fd, count)));
        if self.users.len() > USERS_KEPT {
            self.users.retain(|_, count| count.get() > 0);
        }
        Ok(())
    }
}

/// One user may have the bus hold this part of the descriptors that it may have open.
const SHARE: u64 = 4;

/// Users that are remembered although they have nothing held.
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
    fn a_user_has_a_quarter_held_and_always_one_message() {
        let (one, other) = (Some(1000), Some(1001));
        let mut holders = Holders::within(64);
        let mut held = Vec::new();
        let mut fds = open(20);
        assert_eq!(holders.take(one, &mut fds, &mut held), Ok(()), "it has nothing held");
        held.truncate(10);
        for (user, count, expected) in [
            (one, 6, Ok(())),
            (one, 1, Err(OverShare)),
            (other, 16, Ok(())),
            (other, 1, Err(OverShare)),
        ] {
            let mut fds = open(count);
            assert_eq!(holders.take(user, &mut fds, &mut held), expected, "{user:?}");
            assert!(fds.is_empty());
        }
        held.clear();
        assert_eq!(holders.take(one, &mut open(16), &mut held), Ok(()), "what left counts no more");
    }
}
