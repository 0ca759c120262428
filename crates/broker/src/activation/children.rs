//! The processes of services, from their start until process and output have ended.
//!
//! The loop watches two descriptors of each child: its pidfd, readable when the process ends, and
//! the pipe that is its standard error. The pipe may outlive the process: a service that goes to
//! the background passes it on to the remaining process.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read};

use bus::{HelperFailure, StartFailure, StartId};
use serde::{Deserialize, Serialize};
use sys::launch::{ChildEnding, ChildProcess as Process};

use super::launcher::{Origin, failed_to_execute};
use super::tail::Tail;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The key of a child in poller tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ChildKey(u32);

impl ChildKey {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

#[derive(Debug)]
struct ServiceChild {
    start: StartId,
    origin: Origin,
    /// `None` after the process has ended.
    process: Option<Process>,
    /// `None` after all writers have closed the pipe.
    output: Option<PipeReader>,
    tail: Tail,
}

/// A service process in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedChild {
    key: u32,
    start: StartId,
    origin: Origin,
    process: Option<[FdIndex; 2]>,
    output: Option<FdIndex>,
    #[serde(with = "serde_bytes")]
    tail: Vec<u8>,
}

/// The result of reading a pipe once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputRead {
    /// This number of bytes was read.
    Bytes(usize),
    /// No output is available now.
    Nothing,
    /// All writers have closed the pipe.
    End,
}

/// All children whose process or output has not ended.
#[derive(Debug, Default)]
pub(crate) struct Children {
    by_key: BTreeMap<ChildKey, ServiceChild>,
    next: u32,
}

impl Children {
    /// Adds a process that was started.
    pub(crate) fn add(
        &mut self,
        start: StartId,
        origin: Origin,
        process: Process,
        output: PipeReader,
    ) -> ChildKey {
        while self.by_key.contains_key(&ChildKey(self.next)) {
            self.next = self.next.wrapping_add(1);
        }
        let key = ChildKey(self.next);
        self.next = self.next.wrapping_add(1);
        let (process, output, tail) = (Some(process), Some(output), Tail::default());
        self.by_key.insert(key, ServiceChild { start, origin, process, output, tail });
        key
    }

    /// Saves all children. They remain children of this process.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> Vec<SavedChild> {
        let save = |(key, child): (&ChildKey, &'f ServiceChild)| {
            let [process, report] = match &child.process {
                Some(process) => process.descriptors().map(Some),
                None => [None, None],
            };
            let process = process
                .zip(report)
                .map(|(process, report)| [fds.add_borrowed(process), fds.add_borrowed(report)]);
            let output = child.output.as_ref().map(|output| fds.add(output));
            let (start, origin, tail) = (child.start, child.origin, child.tail.bytes());
            SavedChild { key: key.number(), start, origin, process, output, tail }
        };
        self.by_key.iter().map(save).collect()
    }

    /// Restores the children of this process that an earlier program has started.
    pub(crate) fn restore(
        saved: Vec<SavedChild>,
        fds: &mut RestoredFds,
    ) -> Result<Self, StateError> {
        let mut children = Self::default();
        for SavedChild { key, start, origin, process, output, tail } in saved {
            let process = match process {
                Some([process, report]) => {
                    Some(Process::from_descriptors([fds.take(process)?, fds.take(report)?]))
                }
                None => None,
            };
            let output = output.map(|output| fds.take(output)).transpose()?.map(PipeReader::from);
            let child = ServiceChild { start, origin, process, output, tail: Tail::of(&tail) };
            children.by_key.insert(ChildKey(key), child);
            children.next = children.next.max(key.wrapping_add(1));
        }
        Ok(children)
    }

    /// The keys of all children.
    pub(crate) fn keys(&self) -> impl Iterator<Item = ChildKey> {
        self.by_key.keys().copied()
    }

    pub(crate) fn process(&self, key: ChildKey) -> Option<&Process> {
        self.by_key.get(&key)?.process.as_ref()
    }

    pub(crate) fn output(&self, key: ChildKey) -> Option<&PipeReader> {
        self.by_key.get(&key)?.output.as_ref()
    }

    /// The last output of the service of a start, if there is any.
    pub(crate) fn tail(&self, start: StartId) -> Option<&Tail> {
        let child = self.by_key.values().find(|child| child.start == start)?;
        (!child.tail.is_empty()).then_some(&child.tail)
    }

    /// Reads the output of a service once. At the end, the child [may be
    /// gone](Self::forget_if_gone).
    pub(crate) fn read(&mut self, key: ChildKey, buffer: &mut [u8]) -> OutputRead {
        let Some(child) = self.by_key.get_mut(&key) else { return OutputRead::End };
        let Some(output) = &mut child.output else { return OutputRead::End };
        match output.read(buffer) {
            Ok(0) => {}
            Ok(count) => {
                child.tail.push(&buffer[..count]);
                return OutputRead::Bytes(count);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return OutputRead::Nothing,
            Err(_) => {}
        }
        child.output = None;
        OutputRead::End
    }

    /// Reaps a process that has ended. Returns its start, and the failure if it failed. The child
    /// [may be gone](Self::forget_if_gone) then.
    pub(crate) fn reap(&mut self, key: ChildKey) -> Option<(StartId, Option<StartFailure>)> {
        let child = self.by_key.get_mut(&key)?;
        let ending = child.process.as_ref()?.ending().unwrap_or(Some(ChildEnding::Unknown))?;
        child.process = None;
        Some((child.start, failure_of(ending, child.origin)))
    }

    /// Removes a child whose process and output have ended, with the tail of its output.
    pub(crate) fn forget_if_gone(&mut self, key: ChildKey) {
        if self.process(key).is_none() && self.output(key).is_none() {
            self.by_key.remove(&key);
        }
    }

    /// Kills and removes a child that cannot be watched.
    pub(crate) fn discard(&mut self, key: ChildKey) {
        let process = self.by_key.remove(&key).and_then(|child| child.process);
        // This cannot fail: the process was just started as the same user.
        let _ = process.as_ref().map(Process::kill);
    }

    /// Kills the process of a start, if it is running.
    pub(crate) fn kill(&self, start: StartId) -> io::Result<()> {
        let child = self.by_key.values().find(|child| child.start == start);
        child.and_then(|child| child.process.as_ref()).map_or(Ok(()), Process::kill)
    }
}

/// The failure that the end of a process means. A process that exits successfully may have gone to
/// the background.
fn failure_of(ending: ChildEnding, origin: Origin) -> Option<StartFailure> {
    match (ending, origin) {
        (ChildEnding::NotExecuted(error), _) => Some(failed_to_execute(error)),
        (ChildEnding::Exited(0), _) | (ChildEnding::Unknown, _) => None,
        (ChildEnding::Exited(status), Origin::Direct) => Some(StartFailure::Exited { status }),
        (ChildEnding::Exited(status), Origin::Helper) => {
            HelperFailure::from_status(status).map(StartFailure::Helper)
        }
        (ChildEnding::Signaled(signal), _) => Some(StartFailure::Signaled { signal }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_of_an_exit_status_depends_on_the_program() {
        let check = |ending: fn() -> ChildEnding, direct, helper| {
            assert_eq!(failure_of(ending(), Origin::Direct), direct);
            assert_eq!(failure_of(ending(), Origin::Helper), helper);
        };
        check(|| ChildEnding::Exited(0), None, None);
        check(|| ChildEnding::Unknown, None, None);
        let killed = Some(StartFailure::Signaled { signal: 9 });
        check(|| ChildEnding::Signaled(9), killed.clone(), killed);
        let helper = StartFailure::Helper(HelperFailure::ServiceNotFound);
        check(|| ChildEnding::Exited(6), Some(StartFailure::Exited { status: 6 }), Some(helper));
        let missing = Some(failed_to_execute(io::Error::from_raw_os_error(2)));
        check(
            || ChildEnding::NotExecuted(io::Error::from_raw_os_error(2)),
            missing.clone(),
            missing,
        );
    }
}
