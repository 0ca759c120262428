//! Connections, names and processes over the time of a recording.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::TextId;
use super::ownership::{NameOwners, Ownership};
use crate::record::{BusId, RecordedProcess, RecordedTime};

/// A connection of a recording: one unique name of one bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RecordedPeerId(u32);

impl RecordedPeerId {
    /// Returns the index among all connections of the capture.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    #[cfg(test)]
    pub(super) const fn numbered(number: u32) -> Self {
        Self(number)
    }
}

/// The known facts about a connection.
#[derive(Clone, Debug)]
pub struct RecordedPeer {
    /// The bus of the connection.
    pub bus: BusId,
    /// Its unique name; `org.freedesktop.DBus` for the bus itself.
    pub unique: TextId,
    /// The time when it connected, if the recording shows that.
    pub arrived: Option<RecordedTime>,
    /// The time when it disconnected, if the recording shows that.
    pub left: Option<RecordedTime>,
    /// The reason why the bus disconnected it, if the recording has it.
    pub why: Option<String>,
    /// Well-known names that it has owned, in the order in which the recording shows them.
    pub names: Vec<TextId>,
    /// The process of the connection, if known.
    pub process: Option<RecordedProcess>,
    /// The purpose of the connection.
    pub role: PeerRole,
}

/// The purposes of connections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PeerRole {
    /// A connection of an ordinary program.
    #[default]
    Talker,
    /// A connection of the recorder. Its messages exist only because of the recording.
    Recorder,
}

/// The connections of a recording, their names and processes.
#[derive(Debug, Default)]
pub struct Directory {
    peers: Vec<RecordedPeer>,
    by_unique: HashMap<(BusId, TextId), RecordedPeerId, RandomState>,
    owners: HashMap<(BusId, TextId), NameOwners, RandomState>,
    /// The unique names of the recorder's connections.
    recorders: Vec<(BusId, TextId)>,
    /// The numbers in these names: 7 for `:1.7`.
    recorder_numbers: Vec<(BusId, u64)>,
}

impl Directory {
    /// The number of connections.
    pub(super) const fn len(&self) -> usize {
        self.peers.len()
    }

    /// Returns all connections, in the order in which they were first seen.
    pub fn peers(&self) -> impl Iterator<Item = (RecordedPeerId, &RecordedPeer)> {
        self.peers.iter().enumerate().map(|(index, peer)| (RecordedPeerId(index as u32), peer))
    }

    /// Returns the connection with this id.
    pub fn peer(&self, id: RecordedPeerId) -> &RecordedPeer {
        &self.peers[id.index()]
    }

    /// Returns the connection with this unique name.
    pub fn by_unique(&self, bus: BusId, unique: TextId) -> Option<RecordedPeerId> {
        self.by_unique.get(&(bus, unique)).copied()
    }

    /// Returns true if a unique name belongs to a connection of the recorder. This is a linear
    /// search: there are few such names, and it is called for every message.
    #[inline]
    pub fn is_recorder(&self, bus: BusId, unique: TextId) -> bool {
        self.recorders.contains(&(bus, unique))
    }

    /// Returns true if `:1.NUMBER` is a connection of the recorder.
    pub fn is_recorder_numbered(&self, bus: BusId, number: u64) -> bool {
        self.recorder_numbers.contains(&(bus, number))
    }

    /// Returns true if any connection of the recorder is known.
    pub(crate) const fn has_recorder(&self) -> bool {
        !self.recorders.is_empty()
    }

    /// Returns true if a connection of the recorder on this bus is known.
    pub(super) fn has_recorder_on(&self, bus: BusId) -> bool {
        self.recorders.iter().any(|(on, _)| *on == bus)
    }

    /// Returns the connection that had a unique or well-known name at this time.
    pub fn resolve(&self, bus: BusId, name: TextId, at: RecordedTime) -> Option<RecordedPeerId> {
        self.by_unique(bus, name).or_else(|| {
            let all = self.ownerships(bus, name);
            all.iter().rfind(|one| one.holds(at)).map(|one| one.owner)
        })
    }

    /// Returns the successive owners of a well-known name.
    pub fn ownerships(&self, bus: BusId, name: TextId) -> &[Ownership] {
        self.owners.get(&(bus, name)).map_or(&[], NameOwners::all)
    }

    /// Returns all well-known names with their owners.
    pub fn names(&self) -> impl Iterator<Item = (BusId, TextId, &[Ownership])> {
        self.owners.iter().map(|(&(bus, name), all)| (bus, name, all.all()))
    }

    /// The connection with this unique name, which is added if it is new.
    pub(super) fn peer_named(&mut self, bus: BusId, unique: TextId) -> RecordedPeerId {
        *self.by_unique.entry((bus, unique)).or_insert_with(|| {
            let id = RecordedPeerId(self.peers.len() as u32);
            self.peers.push(RecordedPeer {
                bus,
                unique,
                arrived: None,
                left: None,
                why: None,
                names: Vec::new(),
                process: None,
                role: PeerRole::default(),
            });
            id
        })
    }

    /// Marks a connection as the recorder's. `number` is the number in its unique name.
    pub(super) fn found_recorder(&mut self, id: RecordedPeerId, number: Option<u64>) -> Novelty {
        let peer = &mut self.peers[id.index()];
        if peer.role == PeerRole::Recorder {
            return Novelty::Old;
        }
        peer.role = PeerRole::Recorder;
        self.recorders.push((peer.bus, peer.unique));
        self.recorder_numbers.extend(number.map(|number| (peer.bus, number)));
        Novelty::New
    }

    /// Sets the process of a connection.
    pub(super) fn identified(&mut self, id: RecordedPeerId, process: RecordedProcess) -> Novelty {
        let known = &mut self.peers[id.index()].process;
        if known.as_ref() == Some(&process) {
            return Novelty::Old;
        }
        *known = Some(process);
        Novelty::New
    }

    /// Records that a connection left, with the reason of the bus, if any.
    pub(super) fn left(
        &mut self,
        id: RecordedPeerId,
        at: RecordedTime,
        why: Option<String>,
    ) -> Novelty {
        let peer = &mut self.peers[id.index()];
        if peer.left.is_some() && (why.is_none() || why == peer.why) {
            return Novelty::Old;
        }
        peer.left.get_or_insert(at);
        peer.why = why.or(peer.why.take());
        Novelty::New
    }

    pub(super) fn peer_mut(&mut self, id: RecordedPeerId) -> &mut RecordedPeer {
        &mut self.peers[id.index()]
    }

    /// Records a change of owner that the bus signaled.
    pub(super) fn owner_changed(
        &mut self,
        bus: BusId,
        name: TextId,
        [old, new]: [Option<RecordedPeerId>; 2],
        at: RecordedTime,
    ) {
        self.owners.entry((bus, name)).or_default().changed(old, new, at);
        for owner in [old, new].into_iter().flatten() {
            self.has_owned(owner, name);
        }
    }

    /// Records the owner of a name that the recorder reports, and since when it owns it, if known.
    pub(super) fn owner_found(
        &mut self,
        bus: BusId,
        name: TextId,
        owner: RecordedPeerId,
        since: Option<RecordedTime>,
        at: RecordedTime,
    ) -> Novelty {
        let RecordedPeer { arrived, left, .. } = self.peers[owner.index()];
        // The bus replied before the owner disconnected, but the recorder read the reply later.
        if left.is_some_and(|left| left < at) {
            return Novelty::Old;
        }
        let owners = self.owners.entry((bus, name)).or_default();
        // The first known owner has held the name since before the recording, but not since before
        // the owner connected.
        let since = if owners.all().is_empty() { since.or(arrived) } else { since };
        let news = owners.found(owner, since, at);
        self.has_owned(owner, name);
        news
    }

    /// Records that a name has no owner, as the recorder reports.
    pub(super) fn owner_left(&mut self, bus: BusId, name: TextId, at: RecordedTime) -> Novelty {
        self.owners.get_mut(&(bus, name)).map_or(Novelty::Old, |owners| owners.released(at))
    }

    fn has_owned(&mut self, owner: RecordedPeerId, name: TextId) {
        let names = &mut self.peers[owner.index()].names;
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

/// Whether a fact was new or already known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Novelty {
    /// The information was new.
    New,
    /// The information was known already, or was ignored.
    Old,
}
