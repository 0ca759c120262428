//! Calls that wait for their reply.
//!
//! The bus remembers who owes whom a reply, to tell the caller when the callee goes away, and to
//! tell replies that were asked for from others. A record is in one slab, found by a hash of
//! (caller, serial, callee), and in three lists: of its caller, of its callee, and of all by age.
//! Everything but walking a list takes constant time.

use hashbrown::HashTable;
use slab::Slab;

use crate::hash::KeyedState;
use crate::input::PeerId;
use crate::time::Time;
use core::num::NonZeroU32;

/// A call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PendingReply {
    pub(crate) caller: PeerId,
    pub(crate) serial: NonZeroU32,
    pub(crate) callee: PeerId,
}

/// Why a call cannot be waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExpectError {
    /// The caller has a call with the same serial to the same callee.
    SerialInUse,
    /// The caller has as many calls as it may.
    TooMany,
}

#[derive(Debug)]
struct Record {
    reply: PendingReply,
    deadline: Time,
    links: [Link; 3],
}

/// Which of its lists.
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

/// The ends of a list of records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: usize,
    last: usize,
    len: usize,
}

impl List {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };
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

/// All calls that wait.
#[derive(Debug)]
pub(crate) struct Replies {
    records: Slab<Record>,
    by_key: HashTable<usize>,
    /// By the index of a connection.
    peers: alloc::vec::Vec<PeerLists>,
    by_age: List,
    hasher: KeyedState,
}

impl Replies {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            records: Slab::new(),
            by_key: HashTable::new(),
            peers: alloc::vec::Vec::new(),
            by_age: List::EMPTY,
            hasher,
        }
    }

    /// How many calls wait.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Remembers a call until its reply comes.
    pub(crate) fn expect(
        &mut self,
        reply: PendingReply,
        deadline: Option<Time>,
        max: u64,
    ) -> Result<(), ExpectError> {
        let hash = self.hasher.hash(&reply);
        if self.find(hash, &reply).is_some() {
            return Err(ExpectError::SerialInUse);
        }
        let places = reply.caller.index().max(reply.callee.index()) + 1;
        if self.peers.len() < places {
            self.peers.resize(places, PeerLists::default());
        }
        if self.peers[reply.caller.index()].calls.len as u64 >= max {
            return Err(ExpectError::TooMany);
        }
        self.insert(hash, reply, deadline.unwrap_or(NEVER));
        Ok(())
    }

    /// Forgets a call because its reply has come; says whether it was waited for.
    pub(crate) fn take(&mut self, reply: PendingReply) -> bool {
        let found = self.find(self.hasher.hash(&reply), &reply);
        found.inspect(|&index| self.remove(index)).is_some()
    }

    /// Forgets one of the calls that `caller` made.
    pub(crate) fn pop_call_by(&mut self, caller: PeerId) -> Option<PendingReply> {
        self.pop(self.peers.get(caller.index())?.calls.first)
    }

    /// Forgets the oldest of the replies that `callee` owes.
    pub(crate) fn pop_owed_by(&mut self, callee: PeerId) -> Option<PendingReply> {
        self.pop(self.peers.get(callee.index())?.owed.first)
    }

    /// Forgets the oldest call whose time is over.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<PendingReply> {
        (self.next_deadline()? <= now).then(|| self.pop(self.by_age.first)).flatten()
    }

    /// When the time of the next call is over.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.records.get(self.by_age.first).map(|record| record.deadline)
    }

    fn find(&self, hash: u64, reply: &PendingReply) -> Option<usize> {
        self.by_key.find(hash, |&index| self.records[index].reply == *reply).copied()
    }

    fn insert(&mut self, hash: u64, reply: PendingReply, deadline: Time) {
        let links = [Link { previous: NONE, next: NONE }; 3];
        let index = self.records.insert(Record { reply, deadline, links });
        let (records, hasher) = (&self.records, &self.hasher);
        self.by_key.insert_unique(hash, index, |&i| hasher.hash(&records[i].reply));
        self.link(By::Caller, index, NONE);
        self.link(By::Callee, index, NONE);
        if deadline < NEVER {
            // All calls have the same time to wait, so the place is at the end, unless the
            // configuration has changed meanwhile.
            let mut before = NONE;
            let mut last = self.by_age.last;
            while last != NONE && self.records[last].deadline > deadline {
                before = last;
                last = self.records[last].links[By::Age as usize].previous;
            }
            self.link(By::Age, index, before);
        }
    }

    fn pop(&mut self, index: usize) -> Option<PendingReply> {
        let reply = self.records.get(index)?.reply;
        self.remove(index);
        Some(reply)
    }

    fn remove(&mut self, index: usize) {
        let Record { reply, deadline, .. } = self.records[index];
        self.unlink(By::Caller, index);
        self.unlink(By::Callee, index);
        if deadline < NEVER {
            self.unlink(By::Age, index);
        }
        let hash = self.hasher.hash(&reply);
        if let Ok(entry) = self.by_key.find_entry(hash, |&other| other == index) {
            entry.remove();
        }
        self.records.remove(index);
    }

    fn list(&mut self, by: By, index: usize) -> &mut List {
        let reply = self.records[index].reply;
        match by {
            By::Caller => &mut self.peers[reply.caller.index()].calls,
            By::Callee => &mut self.peers[reply.callee.index()].owed,
            By::Age => &mut self.by_age,
        }
    }

    /// Puts a record into a list in front of `next`, or at the end.
    fn link(&mut self, by: By, index: usize, next: usize) {
        let list = self.list(by, index);
        list.len += 1;
        let previous = match next {
            NONE => core::mem::replace(&mut list.last, index),
            _ => self.records[next].links[by as usize].previous,
        };
        match previous {
            NONE => self.list(by, index).first = index,
            _ => self.records[previous].links[by as usize].next = index,
        }
        if next != NONE {
            self.records[next].links[by as usize].previous = index;
        }
        self.records[index].links[by as usize] = Link { previous, next };
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

/// No record.
const NONE: usize = usize::MAX;

/// The deadline of calls that may wait for ever.
const NEVER: Time = Time::from_nanos(u64::MAX);
