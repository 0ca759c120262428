//! Services that are being started, and who waits for each.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::manager::Order;
use super::services::Road;
use crate::effects::HeldFds;
use crate::input::{Amount, Asker, PeerId};
use crate::members::Counted;
use crate::time::Time;

/// A start of a service. None has the number of another, so a word about one that is over is told
/// from one about the next start of the same service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StartId(u64);

impl fmt::Display for StartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start {}", self.0)
    }
}

/// A service that is being started.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) id: StartId,
    pub(crate) name: Box<str>,
    pub(crate) road: Road,
    /// How long it may take.
    pub(crate) timeout: Option<Duration>,
    deadline: Option<Time>,
    /// In the order in which they came.
    pub(crate) waiting: Vec<Waiting>,
}

/// What waits for a service.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// A call of StartServiceByName, to be answered.
    Caller(Asker),
    /// A message for the service.
    Message(Held),
    /// Something that the bus wants of the service manager.
    Order(Order),
}

impl Waiting {
    /// The connection that it is on the account of.
    const fn from(&self) -> Option<PeerId> {
        match self {
            Self::Caller(asker) => Some(asker.peer),
            Self::Message(held) => Some(held.from),
            Self::Order(_) => None,
        }
    }
}

/// A message that is kept until its recipient is there.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) from: PeerId,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) fds: Option<HeldFds>,
    /// What it is on the account of its sender with.
    pub(crate) amount: Amount,
    /// Where it was counted.
    pub(crate) counted: Counted,
    /// When it came.
    pub(crate) since: Time,
}

/// All services that are being started.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    by_id: BTreeMap<StartId, Start>,
    /// Only names of service files are in here, so no peer can choose keys.
    by_name: BTreeMap<Box<str>, StartId>,
    deadlines: BTreeSet<(Time, StartId)>,
    /// All that wait, for whichever service.
    waiting: usize,
    last_start: u64,
    last_fds: u32,
}

impl Starts {
    /// How many wait, for all services together.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether nothing is being started.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(crate) fn find(&self, name: &str) -> Option<StartId> {
        self.by_name.get(name).copied()
    }

    /// Begins to wait for a service that is not waited for yet.
    pub(crate) fn begin(
        &mut self,
        name: &str,
        road: Road,
        now: Time,
        timeout: Option<Duration>,
    ) -> StartId {
        self.last_start += 1;
        let id = StartId(self.last_start);
        let deadline = timeout.map(|timeout| now.after(timeout));
        self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
        self.by_name.insert(name.into(), id);
        let start = Start { id, name: name.into(), road, timeout, deadline, waiting: Vec::new() };
        self.by_id.insert(id, start);
        id
    }

    /// A name for descriptors that wait with their message.
    pub(crate) const fn name_fds(&mut self) -> HeldFds {
        self.last_fds = self.last_fds.wrapping_add(1);
        HeldFds::new(self.last_fds)
    }

    /// Adds one that waits.
    pub(crate) fn wait(&mut self, id: StartId, waiting: Waiting) {
        if let Some(start) = self.by_id.get_mut(&id) {
            start.waiting.push(waiting);
            self.waiting += 1;
        }
    }

    /// Ends the wait for a service.
    pub(crate) fn take(&mut self, id: StartId) -> Option<Start> {
        let start = self.by_id.remove(&id)?;
        self.by_name.remove(&start.name);
        if let Some(deadline) = start.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        self.waiting -= start.waiting.len();
        Some(start)
    }

    /// Ends the wait for the service that has had its time the longest, if one has.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<Start> {
        let &(deadline, id) = self.deadlines.first()?;
        (deadline <= now).then(|| self.take(id)).flatten()
    }

    /// When the next service will have had its time.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The starts that were left to a unit.
    pub(crate) fn by_unit(&self, unit: &str) -> Vec<StartId> {
        let is_of_unit = |start: &&Start| matches!(&start.road, Road::Unit(own) if **own == *unit);
        self.by_id.values().filter(is_of_unit).map(|start| start.id).collect()
    }

    /// Takes out everything that waits on the account of a connection.
    pub(crate) fn take_of(&mut self, peer: PeerId) -> Vec<Waiting> {
        let of_peer = |waiting: &mut Waiting| waiting.from() == Some(peer);
        let starts = self.by_id.values_mut();
        let taken: Vec<_> =
            starts.flat_map(|start| start.waiting.extract_if(.., of_peer)).collect();
        self.waiting -= taken.len();
        taken
    }
}
