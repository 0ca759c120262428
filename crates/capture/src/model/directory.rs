//! Names and processes through time.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Text;
use super::ownership::{Owners, Ownership};
use crate::record::{BusId, Process, Time};

/// A connection of a recording: one unique name of one bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeerId(u32);

impl PeerId {
    /// The place among all connections of the capture.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    #[cfg(test)]
    pub(super) const fn numbered(number: u32) -> Self {
        Self(number)
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

/// Who is who in a recording.
#[derive(Debug, Default)]
pub struct Directory {
    peers: Vec<Peer>,
    by_unique: HashMap<(BusId, Text), PeerId, RandomState>,
    owners: HashMap<(BusId, Text), Owners, RandomState>,
    /// The unique names of the recorder's connections.
    recorders: Vec<(BusId, Text)>,
    /// The numbers in these names: of `:1.7` 7.
    recorder_numbers: Vec<(BusId, u64)>,
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

    /// Whether `:1.NUMBER` is a connection of the recorder.
    pub fn is_recorder_numbered(&self, bus: BusId, number: u64) -> bool {
        self.recorder_numbers.contains(&(bus, number))
    }

    /// Whether connections of the recorder are known.
    pub(crate) const fn has_recorder(&self) -> bool {
        !self.recorders.is_empty()
    }

    /// Whether connections of the recorder on this bus are known.
    pub(super) fn has_recorder_on(&self, bus: BusId) -> bool {
        self.recorders.iter().any(|(on, _)| *on == bus)
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
        self.owners.get(&(bus, name)).map_or(&[], Owners::all)
    }

    /// All well-known names with their owners.
    pub fn names(&self) -> impl Iterator<Item = (BusId, Text, &[Ownership])> {
        self.owners.iter().map(|(&(bus, name), all)| (bus, name, all.all()))
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

    /// A connection is the recorder's own. `number` is that of its unique name, if it has one.
    pub(super) fn found_recorder(&mut self, id: PeerId, number: Option<u64>) -> News {
        let peer = &mut self.peers[id.index()];
        if peer.role == Role::Recorder {
            return News::Old;
        }
        peer.role = Role::Recorder;
        self.recorders.push((peer.bus, peer.unique));
        self.recorder_numbers.extend(number.map(|number| (peer.bus, number)));
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

    /// The bus says that a name has passed from one owner to another.
    pub(super) fn owner_changed(
        &mut self,
        bus: BusId,
        name: Text,
        [old, new]: [Option<PeerId>; 2],
        at: Time,
    ) {
        self.owners.entry((bus, name)).or_default().changed(old, new, at);
        for owner in [old, new].into_iter().flatten() {
            self.has_owned(owner, name);
        }
    }

    /// The recorder reports that a name has an owner at this time, and perhaps since when.
    pub(super) fn owner_found(
        &mut self,
        bus: BusId,
        name: Text,
        owner: PeerId,
        since: Option<Time>,
        at: Time,
    ) -> News {
        let Peer { arrived, left, .. } = self.peers[owner.index()];
        // The bus replied before the owner disconnected, and the reply was read after that.
        if left.is_some_and(|left| left < at) {
            return News::Old;
        }
        let owners = self.owners.entry((bus, name)).or_default();
        // What is the first that is said of the name holds from before, but not from before its owner.
        let since = if owners.all().is_empty() { since.or(arrived) } else { since };
        let news = owners.found(owner, since, at);
        self.has_owned(owner, name);
        news
    }

    /// The recorder reports that a name has no owner.
    pub(super) fn owner_left(&mut self, bus: BusId, name: Text, at: Time) -> News {
        self.owners.get_mut(&(bus, name)).map_or(News::Old, |owners| owners.released(at))
    }

    fn has_owned(&mut self, owner: PeerId, name: Text) {
        let names = &mut self.peers[owner.index()].names;
        if !names.contains(&name) {
            names.push(name);
        }
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
