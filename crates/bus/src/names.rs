//! Who owns which well-known name, and who waits for it ("Message Bus Names").
//!
//! Each name has a queue of connections: the first owns it, the others wait. Unique names are not
//! kept here; a connection has exactly one, and it never changes hands.

use alloc::boxed::Box;
use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use slab::Slab;

use crate::hash::KeyedState;
use crate::input::PeerId;

/// A well-known name that somebody owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NameId(usize);

/// The flags of RequestName.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RequestFlags(u32);

impl RequestFlags {
    const ALLOW_REPLACEMENT: u32 = 1;
    const REPLACE_EXISTING: u32 = 2;
    const DO_NOT_QUEUE: u32 = 4;

    /// Bits that mean nothing are ignored, as in the reference.
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

/// What came of RequestName; the numbers are those of its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requested {
    PrimaryOwner = 1,
    InQueue = 2,
    Exists = 3,
    AlreadyOwner = 4,
}

/// What came of ReleaseName; the numbers are those of its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Released {
    Done = 1,
    NonExistent = 2,
    NotOwner = 3,
}

/// A name has gone from one owner to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnerChange {
    pub(crate) name: Box<str>,
    pub(crate) old: Option<PeerId>,
    pub(crate) new: Option<PeerId>,
}

#[derive(Debug)]
struct Name {
    text: Box<str>,
    /// Never empty; the first is the owner.
    queue: Vec<Claim>,
}

/// A connection's place in the queue for a name.
#[derive(Clone, Copy, Debug)]
struct Claim {
    peer: PeerId,
    flags: RequestFlags,
}

/// All well-known names.
#[derive(Debug)]
pub(crate) struct Names {
    names: Slab<Name>,
    /// Peers choose the names, so the hasher is keyed.
    by_text: HashTable<NameId>,
    hasher: KeyedState,
}

impl Names {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self { names: Slab::new(), by_text: HashTable::new(), hasher }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        let hash = self.hasher.hash(text);
        self.by_text.find(hash, |id| &*self.names[id.0].text == text).copied()
    }

    pub(crate) fn text(&self, id: NameId) -> &str {
        &self.names[id.0].text
    }

    pub(crate) fn owner(&self, id: NameId) -> PeerId {
        self.names[id.0].queue[0].peer
    }

    pub(crate) fn owner_of(&self, text: &str) -> Option<PeerId> {
        self.find(text).map(|id| self.owner(id))
    }

    /// Owner first, then those who wait.
    pub(crate) fn queue(&self, id: NameId) -> impl Iterator<Item = PeerId> {
        self.names[id.0].queue.iter().map(|claim| claim.peer)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, name)| &*name.text)
    }

    /// Carries out RequestName. The second value is set where `peer` was not in the queue for the
    /// name before and is now; the third where the owner has changed; the fourth where a
    /// connection has left the queue.
    pub(crate) fn request(&mut self, text: &str, peer: PeerId, flags: RequestFlags) -> Request {
        let Some(id) = self.find(text) else { return self.create(text, peer, flags) };
        let name = &mut self.names[id.0];
        let owner = name.queue[0];
        let place = name.queue.iter().position(|claim| claim.peer == peer);
        let claim = Claim { peer, flags };
        if place == Some(0) {
            name.queue[0] = claim;
            return Request { result: Requested::AlreadyOwner, ..Request::new(id) };
        }
        if flags.replaces() && owner.flags.allows_replacement() {
            return self.replace(id, claim, place);
        }
        match (place, flags.waits()) {
            (Some(place), true) => name.queue[place] = claim,
            (None, true) => name.queue.push(claim),
            (Some(place), false) => {
                name.queue.remove(place);
            }
            (None, false) => {}
        }
        Request {
            result: if flags.waits() { Requested::InQueue } else { Requested::Exists },
            joined: (flags.waits() && place.is_none()).then_some(peer),
            left: (!flags.waits() && place.is_some()).then_some(peer),
            ..Request::new(id)
        }
    }

    fn create(&mut self, text: &str, peer: PeerId, flags: RequestFlags) -> Request {
        let queue = alloc::vec![Claim { peer, flags }];
        let id = NameId(self.names.insert(Name { text: text.into(), queue }));
        let (names, hasher) = (&self.names, &self.hasher);
        let hash = |id: &NameId| hasher.hash(&*names[id.0].text);
        self.by_text.insert_unique(hasher.hash(text), id, hash);
        Request {
            result: Requested::PrimaryOwner,
            joined: Some(peer),
            change: Some(OwnerChange { name: text.into(), old: None, new: Some(peer) }),
            ..Request::new(id)
        }
    }

    /// Puts `claim` first. The old owner waits behind it, or leaves if it did not want to wait.
    fn replace(&mut self, id: NameId, claim: Claim, place: Option<usize>) -> Request {
        let name = &mut self.names[id.0];
        if let Some(place) = place {
            name.queue.remove(place);
        }
        let old = name.queue[0];
        if old.flags.waits() {
            name.queue.insert(0, claim);
        } else {
            name.queue[0] = claim;
        }
        Request {
            result: Requested::PrimaryOwner,
            joined: place.is_none().then_some(claim.peer),
            left: (!old.flags.waits()).then_some(old.peer),
            change: Some(OwnerChange {
                name: name.text.clone(),
                old: Some(old.peer),
                new: Some(claim.peer),
            }),
            ..Request::new(id)
        }
    }

    /// Takes `peer` out of the queue for a name, in which it must be.
    pub(crate) fn leave(&mut self, id: NameId, peer: PeerId) -> Option<OwnerChange> {
        let name = &mut self.names[id.0];
        let place = name.queue.iter().position(|claim| claim.peer == peer)?;
        name.queue.remove(place);
        if place > 0 {
            return None;
        }
        let new = name.queue.first().map(|claim| claim.peer);
        let change = OwnerChange { name: name.text.clone(), old: Some(peer), new };
        if new.is_none() {
            self.remove(id);
        }
        Some(change)
    }

    fn remove(&mut self, id: NameId) {
        let name = self.names.remove(id.0);
        if let Ok(entry) =
            self.by_text.find_entry(self.hasher.hash(&*name.text), |other| *other == id)
        {
            entry.remove();
        }
    }
}

/// What RequestName did.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: NameId,
    pub(crate) result: Requested,
    /// Who is in the queue now and was not before.
    pub(crate) joined: Option<PeerId>,
    /// Who was in the queue before and is not now.
    pub(crate) left: Option<PeerId>,
    pub(crate) change: Option<OwnerChange>,
}

impl Request {
    const fn new(id: NameId) -> Self {
        Self { id, result: Requested::Exists, joined: None, left: None, change: None }
    }
}

/// Unique names are numbers that we choose, so the hasher need not be keyed.
pub(crate) type UniqueNames = hashbrown::HashMap<u64, PeerId, FixedState>;
