//! The descriptors of a saved state. The state refers to them by their index in a list.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::StateError;
use crate::fd_quota::{CountedFd, FdQuotas};
use crate::outgoing::SharedFds;

/// The index of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FdIndex(u32);

impl FdIndex {
    /// Finds the descriptor in a list.
    pub(crate) fn of(self, fds: &[OwnedFd]) -> Result<BorrowedFd<'_>, StateError> {
        fds.get(self.0 as usize).map(AsFd::as_fd).ok_or(StateError::Descriptor(self.0))
    }
}

/// The user that a descriptor of a message counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum FdOwner {
    /// The bus itself, which counts no descriptors.
    Bus,
    /// The sender of the message; `None` if its user is unknown.
    User(Option<u32>),
}

/// The descriptors of one message.
pub(crate) type SavedFdSet = Vec<(FdIndex, FdOwner)>;

/// Collects the descriptors of a state that is being saved.
#[derive(Debug, Default)]
pub(crate) struct FdCollector<'f> {
    fds: Vec<BorrowedFd<'f>>,
    sets: Vec<SavedFdSet>,
    /// The index of each set whose message is in several queues, by its address.
    known: HashMap<*const CountedFd, u32>,
}

impl<'f> FdCollector<'f> {
    /// Adds the descriptor of a value and returns its index.
    pub(crate) fn add(&mut self, value: &'f impl AsFd) -> FdIndex {
        self.add_borrowed(value.as_fd())
    }

    /// Adds a descriptor and returns its index.
    pub(crate) fn add_borrowed(&mut self, fd: BorrowedFd<'f>) -> FdIndex {
        self.fds.push(fd);
        FdIndex(self.fds.len() as u32 - 1)
    }

    /// Adds a descriptor of a message.
    pub(crate) fn add_counted(&mut self, fd: &'f CountedFd) -> (FdIndex, FdOwner) {
        (self.add(fd), fd.owner())
    }

    /// Adds the descriptors of a message, unless they were added for another recipient. Returns the
    /// index of the set.
    pub(crate) fn add_shared(&mut self, shared: &'f SharedFds) -> u32 {
        if let Some(index) = self.known.get(&shared.as_ptr()) {
            return *index;
        }
        let set = shared.iter().map(|fd| self.add_counted(fd)).collect();
        self.sets.push(set);
        let index = self.sets.len() as u32 - 1;
        self.known.insert(shared.as_ptr(), index);
        index
    }

    /// Returns the descriptors, and the sets that refer to them.
    pub(crate) fn finish(self) -> (Vec<BorrowedFd<'f>>, Vec<SavedFdSet>) {
        (self.fds, self.sets)
    }
}

/// The descriptors of a state that is being restored. Each can be taken once.
#[derive(Debug)]
pub(crate) struct RestoredFds {
    fds: Vec<Option<OwnedFd>>,
    sets: Vec<SharedFds>,
}

impl RestoredFds {
    /// Takes the descriptors of a state in their order, and restores its `sets`.
    pub(crate) fn new(
        fds: Vec<OwnedFd>,
        sets: Vec<SavedFdSet>,
        quotas: &mut FdQuotas,
    ) -> Result<Self, StateError> {
        let mut restored = Self { fds: fds.into_iter().map(Some).collect(), sets: Vec::new() };
        for set in sets {
            let set: Result<Rc<_>, _> =
                set.into_iter().map(|saved| restored.take_counted(saved, quotas)).collect();
            restored.sets.push(set?);
        }
        Ok(restored)
    }

    /// Takes the descriptor with this index.
    pub(crate) fn take(&mut self, FdIndex(index): FdIndex) -> Result<OwnedFd, StateError> {
        let place = self.fds.get_mut(index as usize);
        place.and_then(Option::take).ok_or(StateError::Descriptor(index))
    }

    /// Takes a descriptor of a message, and counts it against its user.
    pub(crate) fn take_counted(
        &mut self,
        (index, owner): (FdIndex, FdOwner),
        quotas: &mut FdQuotas,
    ) -> Result<CountedFd, StateError> {
        Ok(quotas.restore(self.take(index)?, owner))
    }

    /// The set with this index.
    pub(crate) fn shared(&self, index: u32) -> Result<SharedFds, StateError> {
        let set = self.sets.get(index as usize);
        set.cloned().ok_or(StateError::Inconsistent("a message has descriptors of no message"))
    }

    /// Checks that every descriptor was taken.
    pub(crate) fn finish(self) -> Result<(), StateError> {
        match self.fds.iter().flatten().count() {
            0 => Ok(()),
            left => Err(StateError::DescriptorsLeft(left)),
        }
    }
}
