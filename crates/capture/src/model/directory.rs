//! Names and processes through time.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::TextId;
use super::ownership::{NameOwners, Ownership};
use crate::record::{BusId, RecordedProcess, RecordedTime};

/// A connection of a recording: one unique name of one bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RecordedPeerId(u32);

impl RecordedPeerId {
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
pub struct RecordedPeer {
    /// Its bus.
    pub bus: BusId,
    /// Its unique name; of the bus itself `org.freedesktop.DBus`.
    pub unique: TextId,
    /// When it came, if the recording shows that.
    pub arrived: Option<RecordedTime>,
    /// When it left, if the recording shows that.
    pub left: Option<RecordedTime>,
    /// Why the bus ended it, if the recording says so.
    pub why: Option<String>,
    /// Well-known names that it has owned, in the order in which that was learnt.
    pub names: Vec<TextId>,
    /// The process behind it, if it is known.
    pub process: Option<RecordedProcess>,
    /// What it is there for.
    pub role: PeerRole,
}

/// What a connection is there for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PeerRole {
    /// To talk to others.
    #[default]
    Talker,
    /// To make this recording: what it says and gets would not be there without it.
    Recorder,
}

/// Who is who in a recording.
#[derive(Debug, Default)]
pub struct Directory {
    peers: Vec<RecordedPeer>,
    by_unique: HashMap<(BusId, TextId), RecordedPeerId, RandomState>,
    owners: HashMap<(BusId, TextId), NameOwners, RandomState>,
    /// The unique names of the recorder's connections.
    recorders: Vec<(BusId, TextId)>,
    /// The numbers in these names: of `:1.7` 7.
    recorder_numbers: Vec<(BusId, u64)>,
}

impl Directory {
    /// How many connections there are.
    pub(super) const fn len(&self) -> usize {
        self.peers.len()
    }

    /// All connections, in the order in which they were first seen.
    pub fn peers(&self) -> impl Iterator<Item = (RecordedPeerId, &RecordedPeer)> {
        self.peers.iter().enumerate().map(|(index, peer)| (RecordedPeerId(index as u32), peer))
    }

    /// A connection.
    pub fn peer(&self, id: RecordedPeerId) -> &RecordedPeer {
        &self.peers[id.index()]
    }

    /// The connection with a unique name.
    pub fn by_unique(&self, bus: BusId, unique: TextId) -> Option<RecordedPeerId> {
        self.by_unique.get(&(bus, unique)).copied()
    }

    /// Whether a unique name is that of a connection of the recorder. There are few of these, and
    /// every message is asked.
    #[inline]
    pub fn is_recorder(&self, bus: BusId, unique: TextId) -> bool {
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
    pub fn resolve(&self, bus: BusId, name: TextId, at: RecordedTime) -> Option<RecordedPeerId> {
        self.by_unique(bus, name).or_else(|| {
            let all = self.ownerships(bus, name);
            all.iter().rfind(|one| one.holds(at)).map(|one| one.owner)
        })
    }

    /// Who has owned a well-known name, one after the other.
    pub fn ownerships(&self, bus: BusId, name: TextId) -> &[Ownership] {
        self.owners.get(&(bus, name)).map_or(&[], NameOwners::all)
    }

    /// All well-known names with their owners.
    pub fn names(&self) -> impl Iterator<Item = (BusId, TextId, &[Ownership])> {
        self.owners.iter().map(|(&(bus, name), all)| (bus, name, all.all()))
    }

    /// The connection with this unique name, which is made if it was not there.
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

    /// A connection is the recorder's own. `number` is that of its unique name, if it has one.
    pub(super) fn found_recorder(&mut self, id: RecordedPeerId, number: Option<u64>) -> News {
        let peer = &mut self.peers[id.index()];
        if peer.role == PeerRole::Recorder {
            return News::Old;
        }
        peer.role = PeerRole::Recorder;
        self.recorders.push((peer.bus, peer.unique));
        self.recorder_numbers.extend(number.map(|number| (peer.bus, number)));
        News::New
    }

    /// More is known of the process behind a connection.
    pub(super) fn identified(&mut self, id: RecordedPeerId, process: RecordedProcess) -> News {
        let known = &mut self.peers[id.index()].process;
        if known.as_ref() == Some(&process) {
            return News::Old;
        }
        *known = Some(process);
        News::New
    }

    /// A connection is gone, and the bus says why perhaps.
    pub(super) fn left(
        &mut self,
        id: RecordedPeerId,
        at: RecordedTime,
        why: Option<String>,
    ) -> News {
        let peer = &mut self.peers[id.index()];
        if peer.left.is_some() && (why.is_none() || why == peer.why) {
            return News::Old;
        }
        peer.left.get_or_insert(at);
        peer.why = why.or(peer.why.take());
        News::New
    }

    pub(super) fn peer_mut(&mut self, id: RecordedPeerId) -> &mut RecordedPeer {
        &mut self.peers[id.index()]
    }

    /// The bus says that a name has passed from one owner to another.
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

    /// The recorder reports that a name has an owner at this time, and perhaps since when.
    pub(super) fn owner_found(
        &mut self,
        bus: BusId,
        name: TextId,
        owner: RecordedPeerId,
        since: Option<RecordedTime>,
        at: RecordedTime,
    ) -> News {
        let RecordedPeer { arrived, left, .. } = self.peers[owner.index()];
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
    pub(super) fn owner_left(&mut self, bus: BusId, name: TextId, at: RecordedTime) -> News {
        self.owners.get_mut(&(bus, name)).map_or(News::Old, |owners| owners.released(at))
    }

    fn has_owned(&mut self, owner: RecordedPeerId, name: TextId) {
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
