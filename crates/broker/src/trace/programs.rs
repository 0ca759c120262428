//! The programs of connections. All connections of a process share one record.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};

use super::lookup::{Lookup, LookupAnswer, ProcessOwner, ProcessRecord};

/// A connection that has just got its unique name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessArrival<'s> {
    pub(crate) owner: ProcessOwner,
    pub(crate) socket: &'s OwnedFd,
}

/// Looks up programs and shares the results.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// The processes of present connections, by process id.
    processes: BTreeMap<u32, Weak<ProcessRecord>>,
    lookup: Lookup,
}

impl Programs {
    /// The process of a connection. The record is empty if it is unknown, or not known
    /// [yet](Self::late).
    pub(super) fn look_up(
        &mut self,
        ProcessArrival { owner, socket }: ProcessArrival<'_>,
    ) -> Rc<ProcessRecord> {
        self.known(owner.pid).unwrap_or_else(|| {
            let found = if owner.pid == 0 { None } else { self.lookup.ask(owner, socket) };
            Rc::new(found.unwrap_or_default())
        })
    }

    /// The record of a process that another connection has, if it is the same process.
    pub(super) fn known(&self, pid: u32) -> Option<Rc<ProcessRecord>> {
        let known = self.processes.get(&pid)?.upgrade()?;
        let since_boot = known.since_boot?;
        (sys::process::started(pid) == Some(since_boot)).then_some(known)
    }

    /// Lets later connections share a record, until the last of them has [left](Self::left).
    pub(super) fn share(&mut self, pid: u32, process: &Rc<ProcessRecord>) {
        self.processes.insert(pid, Rc::downgrade(process));
    }

    /// Notes that a connection with this process has closed.
    pub(super) fn left(&mut self, pid: u32, process: Rc<ProcessRecord>) {
        if Rc::strong_count(&process) == 1 {
            self.processes.remove(&pid);
        }
    }

    /// Whether there will be [late](Self::late) results.
    pub(super) fn expects_late(&self) -> bool {
        self.lookup.is_pending()
    }

    /// The next result that took longer than the bus waits.
    pub(super) fn late(&mut self) -> Option<(ProcessOwner, Rc<ProcessRecord>)> {
        loop {
            let LookupAnswer { owner, process } = self.lookup.late()?;
            if let Some(process) = process {
                return Some((owner, Rc::new(process)));
            }
        }
    }
}
