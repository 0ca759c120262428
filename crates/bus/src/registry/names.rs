//! Well-known names: their owners, and the connections that wait for them ("Message Bus Names").
//!
//! Each name has a queue of connections: the first owns it, the others wait. Unique names are not
//! stored here; each connection has exactly one, and it never changes its owner.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize, Serializer};
use slab::Slab;

use crate::hash::KeyedState;
use crate::saved_state::SavedStateError;
use crate::types::PeerId;

/// A well-known name that has an owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NameId(usize);

/// The flags of RequestName.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RequestFlags(u32);

impl RequestFlags {
    const ALLOW_REPLACEMENT: u32 = 1;
    const REPLACE_EXISTING: u32 = 2;
    const DO_NOT_QUEUE: u32 = 4;

    /// Ignores unknown bits, like dbus-daemon.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    const fn allows_replacement(self) -> bool {
        self.0 & Self::ALLOW_REPLACEMENT != 0
    }

    const fn replaces(self) -> bool {
        self.0 & Self::REPLACE_EXISTING != 0
    }

    const fn waits(self) -> bool {
        self.0 & Self::DO_NOT_QUEUE == 0
    }
}

/// The result of RequestName, with the number in its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requested {
    PrimaryOwner = 1,
    InQueue = 2,
    Exists = 3,
    AlreadyOwner = 4,
}

/// The result of ReleaseName, with the number in its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Released {
    Done = 1,
    NonExistent = 2,
    NotOwner = 3,
}

/// A change of the owner of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnerChange {
    pub(crate) name: Box<str>,
    pub(crate) old: Option<PeerId>,
    pub(crate) new: Option<PeerId>,
}

/// A sequence number of queue entries. When a connection ends, it gives up its names in the reverse
/// order of these numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct Ticket(u64);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OwnedName {
    text: Box<str>,
    /// The first entry is the owner. The queue is never empty.
    queue: Vec<NameClaim>,
}

/// An entry of a connection in the queue of a name.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct NameClaim {
    peer: PeerId,
    flags: RequestFlags,
    ticket: Ticket,
}

/// All well-known names with an owner.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SavedNames<'static>")]
pub(super) struct Names {
    names: Slab<OwnedName>,
    /// Number of queue entries that were ever created.
    tickets: u64,
    /// Peers choose the names, so the hasher has a secret key.
    by_text: HashTable<NameId>,
    hasher: KeyedState,
}

impl Names {
    pub(super) fn new(hasher: KeyedState) -> Self {
        Self { names: Slab::new(), tickets: 0, by_text: HashTable::new(), hasher }
    }

    pub(super) fn find(&self, text: &str) -> Option<NameId> {
        let hash = self.hasher.hash(text);
        self.by_text.find(hash, |id| &*self.names[id.0].text == text).copied()
    }

    pub(super) fn text(&self, id: NameId) -> &str {
        &self.names[id.0].text
    }

    pub(super) fn owner(&self, id: NameId) -> PeerId {
        self.names[id.0].queue[0].peer
    }

    pub(super) fn owner_of(&self, text: &str) -> Option<PeerId> {
        self.find(text).map(|id| self.owner(id))
    }

    /// The queue of a name: its owner first, then the waiting connections.
    pub(super) fn queue(&self, id: NameId) -> impl Iterator<Item = PeerId> {
        self.names[id.0].queue.iter().map(|claim| claim.peer)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, name)| &*name.text)
    }

    /// All entries of all queues.
    pub(super) fn claims(&self) -> impl Iterator<Item = (PeerId, Ticket, NameId)> {
        self.names.iter().flat_map(|(id, name)| {
            name.queue.iter().map(move |claim| (claim.peer, claim.ticket, NameId(id)))
        })
    }

    /// True if `peer` is in the queue of a name.
    pub(super) fn is_in_queue(&self, id: NameId, peer: PeerId) -> bool {
        self.queue(id).any(|other| other == peer)
    }

    /// Implements the method RequestName.
    pub(super) fn request(&mut self, text: &str, peer: PeerId, flags: RequestFlags) -> Request {
        let Some(id) = self.find(text) else { return self.create(text, peer, flags) };
        let queue = &mut self.names[id.0].queue;
        let place = queue.iter().position(|claim| claim.peer == peer);
        match place {
            Some(0) => {
                queue[0].flags = flags;
                Request::unchanged(id, Requested::AlreadyOwner)
            }
            _ if flags.replaces() && queue[0].flags.allows_replacement() => {
                self.replace(id, peer, flags, place)
            }
            _ => self.wait(id, peer, flags, place),
        }
    }

    fn create(&mut self, text: &str, peer: PeerId, flags: RequestFlags) -> Request {
        let claim = self.claim(peer, flags);
        let queue = alloc::vec![claim];
        let id = self.insert(OwnedName { text: text.into(), queue });
        Request {
            joined: Some(claim.ticket),
            change: Some(OwnerChange { name: text.into(), old: None, new: Some(peer) }),
            ..Request::unchanged(id, Requested::PrimaryOwner)
        }
    }

    fn insert(&mut self, name: OwnedName) -> NameId {
        let hash = self.hasher.hash(&*name.text);
        let id = NameId(self.names.insert(name));
        let (names, hasher) = (&self.names, &self.hasher);
        self.by_text.insert_unique(hash, id, |id| hasher.hash(&*names[id.0].text));
        id
    }

    /// Moves `peer` to the front. The old owner waits behind it, or leaves if it did not want to
    /// wait.
    fn replace(
        &mut self,
        id: NameId,
        peer: PeerId,
        flags: RequestFlags,
        place: Option<usize>,
    ) -> Request {
        let new = match place {
            Some(place) => NameClaim { flags, ..self.names[id.0].queue.remove(place) },
            None => self.claim(peer, flags),
        };
        let name = &mut self.names[id.0];
        let old = name.queue[0];
        if old.flags.waits() {
            name.queue.insert(0, new);
        } else {
            name.queue[0] = new;
        }
        let change = OwnerChange { name: name.text.clone(), old: Some(old.peer), new: Some(peer) };
        Request {
            joined: place.is_none().then_some(new.ticket),
            left: (!old.flags.waits()).then_some((old.peer, old.ticket)),
            change: Some(change),
            ..Request::unchanged(id, Requested::PrimaryOwner)
        }
    }

    /// Appends `peer` or updates its entry. Removes the entry if `peer` does not want to wait.
    fn wait(
        &mut self,
        id: NameId,
        peer: PeerId,
        flags: RequestFlags,
        place: Option<usize>,
    ) -> Request {
        match (place, flags.waits()) {
            (Some(place), true) => {
                self.names[id.0].queue[place].flags = flags;
                Request::unchanged(id, Requested::InQueue)
            }
            (None, true) => {
                let claim = self.claim(peer, flags);
                self.names[id.0].queue.push(claim);
                let joined = Some(claim.ticket);
                Request { joined, ..Request::unchanged(id, Requested::InQueue) }
            }
            (Some(place), false) => {
                let claim = self.names[id.0].queue.remove(place);
                let left = Some((peer, claim.ticket));
                Request { left, ..Request::unchanged(id, Requested::Exists) }
            }
            (None, false) => Request::unchanged(id, Requested::Exists),
        }
    }

    const fn claim(&mut self, peer: PeerId, flags: RequestFlags) -> NameClaim {
        self.tickets += 1;
        NameClaim { peer, flags, ticket: Ticket(self.tickets) }
    }

    /// Removes `peer` from the queue of a name, if it is in it.
    pub(super) fn leave(&mut self, id: NameId, peer: PeerId) -> Option<Leave> {
        let name = &mut self.names[id.0];
        let place = name.queue.iter().position(|claim| claim.peer == peer)?;
        let ticket = name.queue.remove(place).ticket;
        if place > 0 {
            return Some(Leave { ticket, change: None });
        }
        let new = name.queue.first().map(|claim| claim.peer);
        let name = match new {
            Some(_) => name.text.clone(),
            None => self.remove(id),
        };
        Some(Leave { ticket, change: Some(OwnerChange { name, old: Some(peer), new }) })
    }

    /// Checks that every connection in a queue may have names, and is there only once.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(super) fn check(&self, may_have_names: impl Fn(PeerId) -> bool) -> usize {
        assert_eq!(self.names.len(), self.by_text.len(), "names and their index");
        for (id, name) in &self.names {
            assert_eq!(self.find(&name.text), Some(NameId(id)), "{} in the index", name.text);
            assert!(!name.queue.is_empty(), "{} has no owner", name.text);
            for (place, claim) in name.queue.iter().enumerate() {
                assert!(
                    may_have_names(claim.peer),
                    "{} in the queue for {}",
                    claim.peer,
                    name.text
                );
                let again = name.queue[..place].iter().any(|other| other.peer == claim.peer);
                assert!(!again, "{} is twice in the queue for {}", claim.peer, name.text);
            }
        }
        self.names.iter().map(|(_, name)| name.queue.len()).sum()
    }

    fn remove(&mut self, id: NameId) -> Box<str> {
        let name = self.names.remove(id.0);
        if let Ok(entry) =
            self.by_text.find_entry(self.hasher.hash(&*name.text), |other| *other == id)
        {
            entry.remove();
        }
        name.text
    }
}

/// The names in the saved state.
#[derive(Serialize, Deserialize)]
struct SavedNames<'n> {
    hasher: KeyedState,
    tickets: u64,
    names: Vec<Cow<'n, OwnedName>>,
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names.iter().map(|(_, name)| Cow::Borrowed(name)).collect();
        let (hasher, tickets) = (self.hasher.clone(), self.tickets);
        SavedNames { hasher, tickets, names }.serialize(serializer)
    }
}

impl TryFrom<SavedNames<'_>> for Names {
    type Error = SavedStateError;

    fn try_from(saved: SavedNames<'_>) -> Result<Self, SavedStateError> {
        let mut names = Self { tickets: saved.tickets, ..Self::new(saved.hasher) };
        for name in saved.names.into_iter().map(Cow::into_owned) {
            if names.find(&name.text).is_some() {
                return Err(SavedStateError::Duplicate("name"));
            }
            if name.queue.is_empty() {
                return Err(SavedStateError::NameWithoutOwner);
            }
            names.insert(name);
        }
        Ok(names)
    }
}

/// The effect of RequestName.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: NameId,
    pub(super) result: Requested,
    /// The new entry of the caller, if it was not in the queue before.
    pub(super) joined: Option<Ticket>,
    /// The connection that has left the queue, with its entry.
    pub(super) left: Option<(PeerId, Ticket)>,
    pub(super) change: Option<OwnerChange>,
}

impl Request {
    const fn unchanged(id: NameId, result: Requested) -> Self {
        Self { id, result, joined: None, left: None, change: None }
    }
}

/// The effect of removing the entry of one connection.
#[derive(Debug)]
pub(super) struct Leave {
    pub(super) ticket: Ticket,
    pub(super) change: Option<OwnerChange>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    const OWNER: PeerId = PeerId::new(0, 0);
    const WAITING: PeerId = PeerId::new(1, 0);

    /// A name with an owner and a waiting connection, and another name.
    fn names() -> Names {
        let mut names = Names::new(KeyedState::new(0.into()));
        names.request("a.b", OWNER, RequestFlags::from_bits(0));
        names.request("a.b", WAITING, RequestFlags::from_bits(0));
        names.request("a.c", WAITING, RequestFlags::from_bits(0));
        names
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let check = |names: &Names| {
            assert_eq!(names.check(|peer| peer == OWNER || peer == WAITING), 3);
        };
        each_is_reported(
            names,
            check,
            &[
                ("the index is empty", |names| names.by_text.clear()),
                ("a name that is not found", |names| names.names[0].text = "a.d".into()),
                ("a name without an owner", |names| names.names[1].queue.clear()),
                ("a connection twice in a queue", |names| {
                    names.names[0].queue[1] = names.names[0].queue[0];
                }),
                ("a connection that is gone", |names| {
                    names.names[0].queue[1].peer = PeerId::new(9, 0);
                }),
                ("a place more", |names| {
                    let claim = names.names[0].queue[0];
                    names.names[1].queue.push(claim);
                }),
            ],
        );
    }
}
