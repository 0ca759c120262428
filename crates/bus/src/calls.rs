//! Pending calls: calls whose reply has not arrived yet.
//!
//! The bus remembers them to answer the caller if the callee disconnects, and to distinguish
//! requested replies from others. Each record is in a slab, in a hash index by (caller, serial,
//! callee), and in three lists: of its caller, of its callee, and of all records by age. All
//! operations take constant time, except walking a list.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize, Serializer};
use slab::Slab;

use crate::accounting::Counted;
use crate::hash::KeyedState;
use crate::saved_state::SavedStateError;
use crate::types::{PeerId, Time};

/// A call that waits for its reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct PendingCall {
    pub(crate) caller: PeerId,
    pub(crate) serial: NonZeroU32,
    pub(crate) callee: PeerId,
}

/// A reference to a pending call that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PendingCallId(usize);

/// The reason why a call cannot become pending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpectError {
    /// The caller already has a pending call with this serial to the same callee.
    SerialInUse,
    /// The caller has reached its limit of pending calls.
    TooMany,
}

#[derive(Debug)]
struct CallRecord {
    call: PendingCall,
    /// The hash of the call, which is expensive to compute again.
    hash: u64,
    deadline: Time,
    /// The row in which the call was counted.
    counted: Counted,
    links: [Link; 3],
}

/// The lists that a record is in.
#[derive(Clone, Copy)]
enum By {
    Caller = 0,
    Callee = 1,
    Age = 2,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: usize,
    next: usize,
}

/// The first and the last record of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    first: usize,
    last: usize,
    len: usize,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };
}

impl Default for List {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The lists of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct PeerLists {
    calls: List,
    owed: List,
}

/// All pending calls of the bus.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SavedCalls")]
pub(crate) struct PendingCalls {
    records: Slab<CallRecord>,
    by_key: HashTable<usize>,
    /// The lists of each connection, by its index.
    peers: Vec<PeerLists>,
    by_age: List,
    hasher: KeyedState,
}

impl PendingCalls {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            records: Slab::new(),
            by_key: HashTable::new(),
            peers: Vec::new(),
            by_age: List::EMPTY,
            hasher,
        }
    }

    /// Number of pending calls.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of pending calls that a connection made, and number that it must answer.
    #[inline]
    pub(crate) fn of_peer(&self, peer: PeerId) -> (usize, usize) {
        self.peers.get(peer.index()).map_or((0, 0), |lists| (lists.calls.len, lists.owed.len))
    }

    /// Adds a call, which is pending until its reply arrives.
    pub(crate) fn expect(
        &mut self,
        call: PendingCall,
        deadline: Option<Time>,
        max: u64,
        counted: Counted,
    ) -> Result<(), ExpectError> {
        let hash = self.hasher.hash(&call);
        if self.find_hashed(hash, &call).is_some() {
            return Err(ExpectError::SerialInUse);
        }
        let places = call.caller.index().max(call.callee.index()) + 1;
        if self.peers.len() < places {
            self.peers.resize(places, PeerLists::default());
        }
        if self.peers[call.caller.index()].calls.len as u64 >= max {
            return Err(ExpectError::TooMany);
        }
        self.insert(hash, call, deadline.unwrap_or(NEVER), counted);
        Ok(())
    }

    /// Finds the call that a reply belongs to.
    #[inline]
    pub(crate) fn find(&self, call: &PendingCall) -> Option<PendingCallId> {
        self.find_hashed(self.hasher.hash(call), call)
    }

    /// Removes a call because its reply has arrived. Returns the row in which it was counted.
    #[inline]
    pub(crate) fn take(&mut self, id: PendingCallId) -> Counted {
        let counted = self.records[id.0].counted;
        self.remove(id.0);
        counted
    }

    /// Removes one of the calls that `caller` made.
    pub(crate) fn pop_call_by(&mut self, caller: PeerId) -> Option<PendingCall> {
        self.pop(self.peers.get(caller.index())?.calls.first)
    }

    /// Removes the oldest call that `callee` must answer.
    pub(crate) fn pop_owed_by(&mut self, callee: PeerId) -> Option<PendingCall> {
        self.pop(self.peers.get(callee.index())?.owed.first)
    }

    /// Removes the oldest call whose timeout has expired.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<PendingCall> {
        (self.next_deadline()? <= now).then(|| self.pop(self.by_age.first)).flatten()
    }

    /// Limits the deadline of all calls to `latest`.
    pub(crate) fn hasten(&mut self, latest: Time) {
        let mut index = self.by_age.last;
        while let Some(record) = self.records.get_mut(index)
            && record.deadline > latest
        {
            record.deadline = latest;
            index = record.links[By::Age as usize].previous;
        }
    }

    /// The time at which the next call times out.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let first = self.records.get(self.by_age.first)?;
        (first.deadline < NEVER).then_some(first.deadline)
    }

    /// Checks that every pending call is in its three lists, that its caller and callee are live,
    /// that the oldest call has the first deadline, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, is_live: impl Fn(PeerId) -> bool) {
        assert_eq!(self.records.len(), self.by_key.len(), "pending calls and their index");
        for (index, CallRecord { call, .. }) in &self.records {
            assert!(is_live(call.caller) && is_live(call.callee), "{call:?}");
            assert_eq!(self.find(call), Some(PendingCallId(index)), "{call:?}");
        }
        let of_callers: usize =
            self.peers.iter().map(|lists| self.check_list(By::Caller, lists.calls)).sum();
        let of_callees: usize =
            self.peers.iter().map(|lists| self.check_list(By::Callee, lists.owed)).sum();
        let of_age = self.check_list(By::Age, self.by_age);
        assert_eq!([of_callers, of_callees, of_age], [self.records.len(); 3], "calls in lists");
    }

    /// Walks a list, and returns the number of its calls.
    fn check_list(&self, by: By, list: List) -> usize {
        let (mut index, mut previous, mut len) = (list.first, NONE, 0);
        let mut deadline = Time::default();
        while let Some(record) = self.records.get(index) {
            assert_eq!(record.links[by as usize].previous, previous, "{:?}", record.call);
            assert!(len < self.records.len(), "a list has more calls than there are");
            if matches!(by, By::Age) {
                assert!(record.deadline >= deadline, "the deadline of {:?}", record.call);
                deadline = record.deadline;
            }
            len += 1;
            (previous, index) = (index, record.links[by as usize].next);
        }
        assert_eq!((list.last, list.len), (previous, len), "the end and the length of a list");
        len
    }

    #[inline]
    fn find_hashed(&self, hash: u64, call: &PendingCall) -> Option<PendingCallId> {
        let same = |index: &usize| self.records[*index].call == *call;
        self.by_key.find(hash, same).copied().map(PendingCallId)
    }

    fn insert(&mut self, hash: u64, call: PendingCall, deadline: Time, counted: Counted) {
        let links = [Link { previous: NONE, next: NONE }; 3];
        let index = self.records.insert(CallRecord { call, hash, deadline, counted, links });
        let records = &self.records;
        self.by_key.insert_unique(hash, index, |&i| records[i].hash);
        self.link(By::Caller, index);
        self.link(By::Callee, index);
        // All calls have the same timeout, and `hasten` is called when it becomes shorter, so the
        // list is sorted by deadline, too.
        self.link(By::Age, index);
    }

    fn pop(&mut self, index: usize) -> Option<PendingCall> {
        let call = self.records.get(index)?.call;
        self.remove(index);
        Some(call)
    }

    fn remove(&mut self, index: usize) {
        self.unlink(By::Caller, index);
        self.unlink(By::Callee, index);
        self.unlink(By::Age, index);
        let hash = self.records[index].hash;
        if let Ok(entry) = self.by_key.find_entry(hash, |&other| other == index) {
            entry.remove();
        }
        self.records.remove(index);
    }

    #[inline]
    fn list(&mut self, by: By, index: usize) -> &mut List {
        let call = self.records[index].call;
        match by {
            By::Caller => &mut self.peers[call.caller.index()].calls,
            By::Callee => &mut self.peers[call.callee.index()].owed,
            By::Age => &mut self.by_age,
        }
    }

    /// Appends a record to a list.
    fn link(&mut self, by: By, index: usize) {
        let list = self.list(by, index);
        list.len += 1;
        let previous = core::mem::replace(&mut list.last, index);
        if previous == NONE {
            list.first = index;
        } else {
            self.records[previous].links[by as usize].next = index;
        }
        self.records[index].links[by as usize] = Link { previous, next: NONE };
    }

    fn unlink(&mut self, by: By, index: usize) {
        let Link { previous, next } = self.records[index].links[by as usize];
        let list = self.list(by, index);
        list.len -= 1;
        if previous == NONE {
            list.first = next;
        }
        if next == NONE {
            list.last = previous;
        }
        if previous != NONE {
            self.records[previous].links[by as usize].next = next;
        }
        if next != NONE {
            self.records[next].links[by as usize].previous = previous;
        }
    }
}

/// The pending calls in the saved state, the oldest first.
#[derive(Serialize, Deserialize)]
struct SavedCalls {
    hasher: KeyedState,
    calls: Vec<SavedCall>,
}

/// A pending call in the saved state.
#[derive(Serialize, Deserialize)]
struct SavedCall {
    call: PendingCall,
    deadline: Time,
    counted: Counted,
}

impl Serialize for PendingCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut calls = Vec::with_capacity(self.len());
        let mut index = self.by_age.first;
        while let Some(record) = self.records.get(index) {
            let &CallRecord { call, deadline, counted, .. } = record;
            calls.push(SavedCall { call, deadline, counted });
            index = record.links[By::Age as usize].next;
        }
        SavedCalls { hasher: self.hasher.clone(), calls }.serialize(serializer)
    }
}

/// All three lists of a call are in the order in which the calls were made, so adding the calls in
/// this order restores them.
impl TryFrom<SavedCalls> for PendingCalls {
    type Error = SavedStateError;

    fn try_from(saved: SavedCalls) -> Result<Self, SavedStateError> {
        let mut calls = Self::new(saved.hasher);
        for SavedCall { call, deadline, counted } in saved.calls {
            call.caller.check_index()?;
            call.callee.check_index()?;
            let added = calls.expect(call, Some(deadline), u64::MAX, counted);
            added.map_err(|_| SavedStateError::Duplicate("pending call"))?;
        }
        Ok(calls)
    }
}

/// The index that stands for no record.
const NONE: usize = usize::MAX;

/// The deadline of calls without a timeout.
const NEVER: Time = Time::from_nanos(u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    const A: PeerId = PeerId::new(0, 0);
    const B: PeerId = PeerId::new(1, 0);

    /// A calls B twice, and B calls A.
    fn calls() -> PendingCalls {
        let mut calls = PendingCalls::new(KeyedState::new(0.into()));
        for (number, caller, callee) in [(1, A, B), (2, A, B), (3, B, A)] {
            let serial = NonZeroU32::new(number).expect("not 0");
            let deadline = Some(Time::from_nanos(number.into()));
            let call = PendingCall { caller, serial, callee };
            calls.expect(call, deadline, 8, Counted::NOT).expect("there is room");
        }
        calls
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let check = |calls: &PendingCalls| calls.check(|peer| peer == A || peer == B);
        each_is_reported(
            calls,
            check,
            &[
                ("the index is empty", |calls| calls.by_key.clear()),
                ("a record is gone", |calls| {
                    calls.records.remove(1);
                }),
                ("a callee is gone", |calls| calls.records[2].call.callee = PeerId::new(7, 0)),
                ("a caller is gone", |calls| calls.records[2].call.caller = PeerId::new(7, 0)),
                ("another call has the index of a call", |calls| {
                    calls.records[0].call.serial = NonZeroU32::MAX;
                }),
                ("the number of a caller's calls", |calls| calls.peers[0].calls.len += 1),
                ("the number of replies that a callee owes", |calls| calls.peers[1].owed.len -= 1),
                ("the number of all calls", |calls| calls.by_age.len += 1),
                ("the last call of a list", |calls| calls.by_age.last = 0),
                ("the first call of a list", |calls| calls.peers[0].calls.first = 1),
                ("a list that ends early", |calls| {
                    calls.records[0].links[By::Age as usize].next = NONE;
                }),
                ("a list that goes back to another call", |calls| {
                    calls.records[1].links[By::Callee as usize].previous = 2;
                }),
                ("a list without an end", |calls| {
                    calls.records[2].links[By::Age as usize].next = 0;
                    calls.records[0].links[By::Age as usize].previous = 2;
                }),
                ("a later call with an earlier deadline", |calls| {
                    calls.records[2].deadline = Time::from_nanos(1);
                }),
            ],
        );
    }
}
