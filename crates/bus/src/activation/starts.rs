//! Services that are being started, and the waiters of each.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use wire::Message;

use super::manager::ManagerRequest;
use crate::accounting::Counted;
use crate::saved_state::SavedStateError;
use crate::types::{ActivationMethod, Amount, CallId, HeldFds, PeerId, StartId, Time};

/// A service that is being started.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) id: StartId,
    pub(super) name: Box<str>,
    method: ActivationMethod,
    /// The time that the start may take.
    pub(super) timeout: Option<Duration>,
    deadline: Option<Time>,
    /// The waiters, in the order of arrival.
    pub(super) waiting: Vec<StartWaiter>,
}

/// A call, message or request that waits for a service.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum StartWaiter {
    /// A call of StartServiceByName that must be answered.
    Call(CallId),
    /// A message that is addressed to the service.
    Message(HeldMessage),
    /// A request of the bus to the service manager.
    Request(ManagerRequest),
}

impl StartWaiter {
    /// Returns the connection that waits.
    const fn peer(&self) -> Option<PeerId> {
        match self {
            Self::Call(call) => Some(call.peer),
            Self::Message(held) => Some(held.from),
            Self::Request(_) => None,
        }
    }
}

/// A message that is held until its recipient connects.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HeldMessage {
    pub(super) from: PeerId,
    #[serde(with = "serde_bytes")]
    pub(super) bytes: Box<[u8]>,
    /// The id of its descriptors, which the daemon holds.
    pub(super) fds: Option<HeldFds>,
    /// The amount that counts against the limits of its sender.
    pub(super) amount: Amount,
    /// The row in which it was counted.
    pub(super) counted: Counted,
    /// The time at which it was received.
    pub(super) since: Time,
}

/// All services that are being started.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "SavedStarts")]
pub(super) struct Starts {
    by_id: BTreeMap<StartId, Start>,
    /// The keys are names of service files, so no peer can choose them.
    #[serde(skip)]
    by_name: BTreeMap<Box<str>, StartId>,
    #[serde(skip)]
    deadlines: BTreeSet<(Time, StartId)>,
    /// Number of waiters of all services.
    #[serde(skip)]
    waiting: usize,
    /// The held messages of each connection that has any.
    #[serde(skip)]
    held: BTreeMap<PeerId, Amount>,
    last_start: u64,
    last_fds: u32,
}

impl Starts {
    /// Number of waiters of all services.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The amount of the held messages of a connection.
    pub(super) fn held_of(&self, peer: PeerId) -> Amount {
        self.held.get(&peer).copied().unwrap_or_default()
    }

    /// Counts the held messages that carry descriptors.
    pub(super) fn messages_with_fds(&self) -> usize {
        let waiters = self.by_id.values().flat_map(|start| &start.waiting);
        let has_fds = |waiter: &&StartWaiter| {
            matches!(waiter, StartWaiter::Message(HeldMessage { fds: Some(_), .. }))
        };
        waiters.filter(has_fds).count()
    }

    pub(super) fn find(&self, name: &str) -> Option<StartId> {
        self.by_name.get(name).copied()
    }

    /// Adds a service that is not being started yet.
    pub(super) fn begin(
        &mut self,
        name: &str,
        method: ActivationMethod,
        now: Time,
        timeout: Option<Duration>,
    ) -> StartId {
        self.last_start += 1;
        let id = StartId::new(self.last_start);
        let deadline = timeout.map(|timeout| now.after(timeout));
        self.add(Start { id, name: name.into(), method, timeout, deadline, waiting: Vec::new() });
        id
    }

    /// Adds a start without waiters.
    fn add(&mut self, start: Start) {
        self.deadlines.extend(start.deadline.map(|deadline| (deadline, start.id)));
        self.by_name.insert(start.name.clone(), start.id);
        self.by_id.insert(start.id, start);
    }

    /// Returns a new id for descriptors that are held with their message. An id is not reused while
    /// the descriptors may still be held.
    pub(super) const fn name_fds(&mut self) -> HeldFds {
        self.last_fds = self.last_fds.wrapping_add(1);
        HeldFds::new(self.last_fds)
    }

    /// Adds a waiter to a service.
    pub(super) fn wait(&mut self, id: StartId, waiter: StartWaiter) {
        let Some(start) = self.by_id.get_mut(&id) else { return };
        if let StartWaiter::Message(held) = &waiter {
            self.held.entry(held.from).or_default().add(held.amount);
        }
        start.waiting.push(waiter);
        self.waiting += 1;
    }

    /// Removes a start and its waiters.
    pub(super) fn take(&mut self, id: StartId) -> Option<Start> {
        let start = self.by_id.remove(&id)?;
        self.by_name.remove(&start.name);
        if let Some(deadline) = start.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        self.uncount(&start.waiting);
        Some(start)
    }

    /// Removes the start whose timeout expired first, if any.
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<Start> {
        let &(deadline, id) = self.deadlines.first()?;
        (deadline <= now).then(|| self.take(id)).flatten()
    }

    /// The time at which the next start times out.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The starts that requested a unit.
    pub(super) fn by_unit(&self, unit: &str) -> Vec<StartId> {
        let is_of_unit =
            |start: &&Start| matches!(&start.method, ActivationMethod::Unit(own) if **own == *unit);
        self.by_id.values().filter(is_of_unit).map(|start| start.id).collect()
    }

    /// Removes all waiters of a connection.
    pub(super) fn take_of(&mut self, peer: PeerId) -> Vec<StartWaiter> {
        if self.by_id.is_empty() {
            return Vec::new();
        }
        let of_peer = |waiter: &mut StartWaiter| waiter.peer() == Some(peer);
        let starts = self.by_id.values_mut();
        let taken: Vec<_> =
            starts.flat_map(|start| start.waiting.extract_if(.., of_peer)).collect();
        self.uncount(&taken);
        taken
    }

    fn uncount(&mut self, waiters: &[StartWaiter]) {
        self.waiting -= waiters.len();
        for waiter in waiters {
            if let StartWaiter::Message(message) = waiter
                && let Some(held) = self.held.get_mut(&message.from)
            {
                held.subtract(message.amount);
                if held.messages == 0 {
                    self.held.remove(&message.from);
                }
            }
        }
    }

    /// Checks that every waiter has a live connection, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(super) fn check(&self, is_active: impl Fn(PeerId) -> bool) {
        let mut held = BTreeMap::<PeerId, Amount>::new();
        let mut waiting = 0;
        for (id, start) in &self.by_id {
            assert_eq!((start.id, self.find(&start.name)), (*id, Some(*id)), "{}", start.name);
            let has_deadline =
                start.deadline.map(|deadline| self.deadlines.contains(&(deadline, *id)));
            assert_ne!(has_deadline, Some(false), "the deadline of {}", start.name);
            waiting += start.waiting.len();
            for waiter in &start.waiting {
                assert!(waiter.peer().is_none_or(&is_active), "{waiter:?}");
                if let StartWaiter::Message(message) = waiter {
                    held.entry(message.from).or_default().add(message.amount);
                }
            }
        }
        let deadlines = self.by_id.values().filter(|start| start.deadline.is_some()).count();
        assert_eq!(self.deadlines.len(), deadlines, "deadlines of starts");
        assert_eq!(self.by_name.len(), self.by_id.len(), "names of starts");
        assert_eq!(self.waiting, waiting, "everything that waits for services");
        assert_eq!(self.held, held, "held messages");
    }
}

/// The starts in the saved state: the fields of [`Starts`] that are saved, in the same order.
#[derive(Deserialize)]
struct SavedStarts {
    by_id: BTreeMap<StartId, Start>,
    last_start: u64,
    last_fds: u32,
}

impl TryFrom<SavedStarts> for Starts {
    type Error = SavedStateError;

    fn try_from(saved: SavedStarts) -> Result<Self, SavedStateError> {
        let SavedStarts { by_id, last_start, last_fds } = saved;
        let mut starts = Self { last_start, last_fds, ..Self::default() };
        for mut start in by_id.into_values() {
            if starts.find(&start.name).is_some() || starts.by_id.contains_key(&start.id) {
                return Err(SavedStateError::Duplicate("start of a service"));
            }
            let (id, waiting) = (start.id, mem::take(&mut start.waiting));
            starts.add(start);
            for waiter in waiting {
                if let StartWaiter::Message(held) = &waiter {
                    let parsed = Message::parse(&held.bytes);
                    parsed.map_err(|_| SavedStateError::MalformedMessage)?;
                }
                starts.wait(id, waiter);
            }
        }
        Ok(starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;

    use testkit::corruption::each_is_reported;

    const SENDER: PeerId = PeerId::new(0, 0);

    /// A start with a waiting call and a waiting message, and a start without a deadline.
    fn starts() -> Starts {
        let mut starts = Starts::default();
        let (method, now) = (ActivationMethod::Process, Time::default());
        let id = starts.begin("a.b", method.clone(), now, Some(Duration::from_secs(1)));
        starts.begin("a.c", method, now, None);
        let serial = NonZeroU32::MIN;
        starts.wait(id, StartWaiter::Call(CallId { peer: SENDER, serial }));
        let amount = Amount { messages: 1, bytes: 8, fds: 0 };
        let (bytes, fds) = ([0; 8].into(), None);
        let (counted, since) = (Counted::NOT, now);
        let held = HeldMessage { from: SENDER, bytes, fds, amount, counted, since };
        starts.wait(id, StartWaiter::Message(held));
        starts
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            starts,
            |starts| starts.check(|peer| peer == SENDER),
            &[
                ("how many wait", |starts| starts.waiting += 1),
                ("held messages of a connection", |starts| {
                    starts.held.get_mut(&SENDER).expect("it has some").bytes -= 1;
                }),
                ("held messages of a connection that has none", |starts| {
                    starts.held.insert(PeerId::new(9, 0), Amount::default());
                }),
                ("a start that is not found", |starts| {
                    starts.by_name.remove("a.b");
                }),
                ("a name without a start", |starts| {
                    starts.by_name.insert("a.d".into(), StartId::new(1));
                }),
                ("a name of another start", |starts| {
                    starts.by_name.insert("a.b".into(), StartId::new(2));
                }),
                ("a start without its deadline", |starts| starts.deadlines.clear()),
                ("a deadline without a start", |starts| {
                    starts.deadlines.insert((Time::default(), StartId::new(2)));
                }),
                ("a connection that is gone", |starts| {
                    let start = starts.by_id.get_mut(&StartId::new(1)).expect("it runs");
                    let call = CallId { peer: PeerId::new(9, 0), serial: NonZeroU32::MIN };
                    start.waiting[0] = StartWaiter::Call(call);
                }),
            ],
        );
    }
}
