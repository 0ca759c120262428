//! Names and processes through time.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Text;
use crate::record::{BusId, Process, Time};

/// A connection of a recording: one unique name of one bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerId(u32);

impl PeerId {
    /// The place among all connections of the capture.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known about a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its bus.
    pub bus: BusId,
    /// Its unique name; of the bus itself `org.freedesktop.DBus`.
    pub unique: Text,
    /// When it came, if the recording shows that.
    pub arrived: Option<Time>,
    /// When it left, if the recording shows that.
    pub left: Option<Time>,
    /// Why the bus ended it, if the recording says so.
    pub why: Option<String>,
    /// Well-known names that it has owned, in the order in which that was learnt.
    pub names: Vec<Text>,
    /// The process behind it, if it is known.
    pub process: Option<Process>,
    /// What it is there for.
    pub role: Role,
}

/// What a connection is there for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Role {
    /// To talk to others.
    #[default]
    Talker,
    /// To make this recording: what it says and gets would not be there without it.
    Recorder,
}

/// A well-known name in the hands of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ownership {
    /// The owner.
    pub owner: PeerId,
    /// Since when; `None` if it was so before the recording says anything.
    pub since: Option<Time>,
    /// Until when; `None` if it was so to the end.
    pub until: Option<Time>,
}

impl Ownership {
    fn holds(&self, at: Time) -> bool {
        self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at <= until)
    }
}

/// Who is who in a recording.
#[derive(Debug, Default)]
pub struct Directory {
    peers: Vec<Peer>,
    by_unique: HashMap<(BusId, Text), PeerId, RandomState>,
    owners: HashMap<(BusId, Text), Vec<Ownership>, RandomState>,
    /// The unique names of the recorder's connections.
    recorders: Vec<(BusId, Text)>,
}

impl Directory {
    /// How many connections there are.
    pub(super) const fn len(&self) -> usize {
        self.peers.len()
    }

    /// All connections, in the order in which they were first seen.
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.peers.iter().enumerate().map(|(index, peer)| (PeerId(index as u32), peer))
    }

    /// A connection.
    pub fn peer(&self, id: PeerId) -> &Peer {
        &self.peers[id.index()]
    }

    /// The connection with a unique name.
    pub fn by_unique(&self, bus: BusId, unique: Text) -> Option<PeerId> {
        self.by_unique.get(&(bus, unique)).copied()
    }

    /// Whether a unique name is that of a connection of the recorder. There are few of these, and
    /// every message is asked.
    #[inline]
    pub fn is_recorder(&self, bus: BusId, unique: Text) -> bool {
        self.recorders.contains(&(bus, unique))
    }

    /// The connection that a name, unique or well-known, stood for.
    pub fn resolve(&self, bus: BusId, name: Text, at: Time) -> Option<PeerId> {
        self.by_unique(bus, name).or_else(|| {
            let all = self.ownerships(bus, name);
            all.iter().rfind(|one| one.holds(at)).map(|one| one.owner)
        })
    }

    /// Who has owned a well-known name, one after the other.
    pub fn ownerships(&self, bus: BusId, name: Text) -> &[Ownership] {
        self.owners.get(&(bus, name)).map_or(&[], Vec::as_slice)
    }

    /// All well-known names with their owners.
    pub fn names(&self) -> impl Iterator<Item = (BusId, Text, &[Ownership])> {
        self.owners.iter().map(|(&(bus, name), all)| (bus, name, all.as_slice()))
    }

    /// The connection with this unique name, which is made if it was not there.
    pub(super) fn peer_named(&mut self, bus: BusId, unique: Text) -> PeerId {
        *self.by_unique.entry((bus, unique)).or_insert_with(|| {
            let id = PeerId(self.peers.len() as u32);
            self.peers.push(Peer {
                bus,
                unique,
                arrived: None,
                left: None,
                why: None,
                names: Vec::new(),
                process: None,
                role: Role::default(),
            });
            id
        })
    }

    /// A connection is the recorder's own.
    pub(super) fn found_recorder(&mut self, id: PeerId) -> News {
        let peer = &mut self.peers[id.index()];
        if peer.role == Role::Recorder {
            return News::Old;
        }
        peer.role = Role::Recorder;
        self.recorders.push((peer.bus, peer.unique));
        News::New
    }

    /// More is known of the process behind a connection.
    pub(super) fn identified(&mut self, id: PeerId, process: Process) -> News {
        let known = &mut self.peers[id.index()].process;
        if known.as_ref() == Some(&process) {
            return News::Old;
        }
        *known = Some(process);
        News::New
    }

    /// A connection is gone, and the bus says why perhaps.
    pub(super) fn left(&mut self, id: PeerId, at: Time, why: Option<String>) -> News {
        let peer = &mut self.peers[id.index()];
        if peer.left.is_some() && (why.is_none() || why == peer.why) {
            return News::Old;
        }
        peer.left.get_or_insert(at);
        peer.why = why.or(peer.why.take());
        News::New
    }

    pub(super) fn peer_mut(&mut self, id: PeerId) -> &mut Peer {
        &mut self.peers[id.index()]
    }

    /// A well-known name has another owner, or none, from now on.
    pub(super) fn owner_changed(
        &mut self,
        bus: BusId,
        name: Text,
        owner: Option<PeerId>,
        at: Time,
    ) -> News {
        let ended = self.owner_ends(bus, name, at);
        let Some(owner) = owner else { return ended };
        self.add_ownership(bus, name, Ownership { owner, since: Some(at), until: None })
    }

    /// A name is found to have an owner; since when is not known unless it was seen already.
    pub(super) fn owner_found(&mut self, bus: BusId, name: Text, owner: PeerId, at: Time) -> News {
        let known = self.owners.get_mut(&(bus, name)).and_then(|all| all.last_mut());
        match known {
            Some(last) if last.owner == owner && last.until.is_none() => News::Old,
            Some(last) if last.until.is_none() => self.owner_changed(bus, name, Some(owner), at),
            Some(last) => {
                let since = last.until;
                self.add_ownership(bus, name, Ownership { owner, since, until: None })
            }
            None => self.add_ownership(bus, name, Ownership { owner, since: None, until: None }),
        }
    }

    /// Somebody who is seen to have owned the name before anything was known about it.
    pub(super) fn was_owner(&mut self, bus: BusId, name: Text, owner: PeerId, at: Time) {
        if !self.owners.contains_key(&(bus, name)) {
            let ownership = Ownership { owner, since: None, until: Some(at) };
            self.add_ownership(bus, name, ownership);
        }
    }

    fn owner_ends(&mut self, bus: BusId, name: Text, at: Time) -> News {
        let last = self.owners.get_mut(&(bus, name)).and_then(|all| all.last_mut());
        let Some(last) = last.filter(|last| last.until.is_none()) else { return News::Old };
        last.until = Some(at);
        News::New
    }

    fn add_ownership(&mut self, bus: BusId, name: Text, ownership: Ownership) -> News {
        let names = &mut self.peers[ownership.owner.index()].names;
        if !names.contains(&name) {
            names.push(name);
        }
        self.owners.entry((bus, name)).or_default().push(ownership);
        News::New
    }
}

/// Whether something that was said was not known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum News {
    /// It was not.
    New,
    /// It was, or it says nothing.
    Old,
}
