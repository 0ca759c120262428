//! Calls that wait for their reply.
//!
//! The bus remembers who owes whom a reply, to tell the caller when the callee goes away, and to
//! tell replies that were asked for from others. A record is in one slab, found by a hash of
//! (caller, serial, callee), and in three lists: of its caller, of its callee, and of all by age.
//! Everything but walking a list takes constant time.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use hashbrown::HashTable;
use slab::Slab;

use crate::hash::KeyedState;
use crate::input::PeerId;
use crate::members::Counted;
use crate::time::Time;

/// A call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PendingReply {
    pub(crate) caller: PeerId,
    pub(crate) serial: NonZeroU32,
    pub(crate) callee: PeerId,
}

/// A call that waits, found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReplyId(usize);

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
    /// Where the call was counted.
    counted: Counted,
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

/// All calls that wait.
#[derive(Debug)]
pub(crate) struct Replies {
    records: Slab<Record>,
    by_key: HashTable<usize>,
    /// By the index of a connection.
    peers: Vec<PeerLists>,
    by_age: List,
    hasher: KeyedState,
}

impl Replies {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            records: Slab::new(),
            by_key: HashTable::new(),
            peers: Vec::new(),
            by_age: List::EMPTY,
            hasher,
        }
    }

    /// How many calls wait.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// How many calls of a connection wait, and how many wait for it.
    pub(crate) fn of_peer(&self, peer: PeerId) -> (usize, usize) {
        self.peers.get(peer.index()).map_or((0, 0), |lists| (lists.calls.len, lists.owed.len))
    }

    /// Remembers a call until its reply comes.
    pub(crate) fn expect(
        &mut self,
        reply: PendingReply,
        deadline: Option<Time>,
        max: u64,
        counted: Counted,
    ) -> Result<(), ExpectError> {
        let hash = self.hasher.hash(&reply);
        if self.find_hashed(hash, &reply).is_some() {
            return Err(ExpectError::SerialInUse);
        }
        let places = reply.caller.index().max(reply.callee.index()) + 1;
        if self.peers.len() < places {
            self.peers.resize(places, PeerLists::default());
        }
        if self.peers[reply.caller.index()].calls.len as u64 >= max {
            return Err(ExpectError::TooMany);
        }
        self.insert(hash, reply, deadline.unwrap_or(NEVER), counted);
        Ok(())
    }

    /// Finds the call that waits for this reply.
    pub(crate) fn find(&self, reply: &PendingReply) -> Option<ReplyId> {
        self.find_hashed(self.hasher.hash(reply), reply)
    }

    /// Forgets a call because its reply has come. Returns where it was counted.
    pub(crate) fn take(&mut self, id: ReplyId) -> Counted {
        let counted = self.records[id.0].counted;
        self.remove(id.0);
        counted
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

    /// Lets no call wait longer than until `latest`.
    pub(crate) fn hasten(&mut self, latest: Time) {
        let mut index = self.by_age.last;
        while let Some(record) = self.records.get_mut(index)
            && record.deadline > latest
        {
            record.deadline = latest;
            index = record.links[By::Age as usize].previous;
        }
    }

    /// When the time of the next call is over.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let first = self.records.get(self.by_age.first)?;
        (first.deadline < NEVER).then_some(first.deadline)
    }

    fn find_hashed(&self, hash: u64, reply: &PendingReply) -> Option<ReplyId> {
        let same = |index: &usize| self.records[*index].reply == *reply;
        self.by_key.find(hash, same).copied().map(ReplyId)
    }

    fn insert(&mut self, hash: u64, reply: PendingReply, deadline: Time, counted: Counted) {
        let links = [Link { previous: NONE, next: NONE }; 3];
        let index = self.records.insert(Record { reply, deadline, counted, links });
        let (records, hasher) = (&self.records, &self.hasher);
        self.by_key.insert_unique(hash, index, |&i| hasher.hash(&records[i].reply));
        self.link(By::Caller, index);
        self.link(By::Callee, index);
        // All calls have the same time to wait, and `hasten` is called when that becomes shorter, so
        // the list is sorted by deadline too.
        self.link(By::Age, index);
    }

    fn pop(&mut self, index: usize) -> Option<PendingReply> {
        let reply = self.records.get(index)?.reply;
        self.remove(index);
        Some(reply)
    }

    fn remove(&mut self, index: usize) {
        let reply = self.records[index].reply;
        self.unlink(By::Caller, index);
        self.unlink(By::Callee, index);
        self.unlink(By::Age, index);
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

    /// Puts a record at the end of a list.
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

/// No record.
const NONE: usize = usize::MAX;

/// The deadline of calls that may wait for ever.
const NEVER: Time = Time::from_nanos(u64::MAX);
