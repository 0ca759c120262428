//! The table of connections, indexed by the peer ids of the bus core.

use bus::PeerId;
use serde::{Deserialize, Serialize};
use sys::poll::Interest;

use crate::connection::{Connection, SavedConnection};
use crate::fd_quota::FdQuotas;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// All connections in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedTable {
    /// Each place with its generation.
    places: Vec<(u32, Option<SavedConnection>)>,
    /// Free places. The last one is used next.
    free: Vec<u32>,
}

impl SavedTable {
    /// The connections that the poller watched, with their sockets.
    pub(crate) fn watched(&self) -> impl Iterator<Item = (PeerId, FdIndex, Interest)> {
        let connections = self.places.iter().filter_map(|(_, connection)| connection.as_ref());
        connections.filter_map(|saved| saved.watched().map(|(fd, wanted)| (saved.peer, fd, wanted)))
    }
}

/// All connections. Slots are reused with another generation.
#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    places: Vec<TablePlace>,
    free: Vec<u32>,
    count: usize,
}

#[derive(Debug, Default)]
struct TablePlace {
    generation: u32,
    connection: Option<Box<Connection>>,
}

impl ConnectionTable {
    /// The id of the next connection.
    pub(crate) fn next_id(&self) -> PeerId {
        let index = self.free.last().map_or(self.places.len(), |&index| index as usize);
        let generation = self.places.get(index).map_or(0, |place| place.generation);
        // There are always fewer connections than descriptors.
        PeerId::new(index as u32, generation)
    }

    /// Saves all connections with their places.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedTable {
        let place = |place: &'f TablePlace| {
            let connection = place.connection.as_ref();
            (place.generation, connection.map(|connection| connection.save(fds)))
        };
        SavedTable { places: self.places.iter().map(place).collect(), free: self.free.clone() }
    }

    /// Restores all connections in their places.
    pub(crate) fn restore(
        saved: SavedTable,
        fds: &mut RestoredFds,
        quotas: &mut FdQuotas,
    ) -> Result<Self, StateError> {
        let mut table = Self { free: saved.free, ..Self::default() };
        for (index, (generation, connection)) in saved.places.into_iter().enumerate() {
            let connection = match connection {
                Some(saved) if saved.peer != PeerId::new(index as u32, generation) => {
                    return Err(StateError::Inconsistent("a connection has the id of another one"));
                }
                Some(saved) => {
                    table.count += 1;
                    Some(Box::new(Connection::restore(saved, fds, quotas)?))
                }
                None => None,
            };
            table.places.push(TablePlace { generation, connection });
        }
        table.check_free()?;
        Ok(table)
    }

    /// Checks that the list of free places contains each free place once.
    fn check_free(&self) -> Result<(), StateError> {
        let mut free = self.free.clone();
        free.sort_unstable();
        free.dedup();
        let is_free = |index: &u32| {
            self.places.get(*index as usize).is_some_and(|place| place.connection.is_none())
        };
        let count = self.places.len() - self.count;
        if free.len() == self.free.len() && free.len() == count && free.iter().all(is_free) {
            Ok(())
        } else {
            Err(StateError::Inconsistent("the list of free places is wrong"))
        }
    }

    /// The ids of all connections.
    pub(crate) fn peers(&self) -> impl Iterator<Item = PeerId> {
        let connections = self.places.iter().filter_map(|place| place.connection.as_deref());
        connections.map(|connection| connection.peer)
    }

    /// The number of connections.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Adds a connection, whose id is the last result of [`next_id`](Self::next_id).
    pub(crate) fn insert(&mut self, connection: Connection) {
        debug_assert_eq!(connection.peer, self.next_id(), "the connection has the next name");
        let index = connection.peer.index();
        if self.free.pop().is_none() {
            self.places.push(TablePlace::default());
        }
        self.places[index].connection = Some(Box::new(connection));
        self.count += 1;
    }

    pub(crate) fn remove(&mut self, peer: PeerId) -> Option<Box<Connection>> {
        self.get(peer)?;
        let place = &mut self.places[peer.index()];
        place.generation = place.generation.wrapping_add(1);
        self.free.push(peer.index() as u32);
        self.count -= 1;
        place.connection.take()
    }

    #[inline]
    pub(crate) fn get(&self, peer: PeerId) -> Option<&Connection> {
        let connection = self.places.get(peer.index())?.connection.as_deref();
        connection.filter(|connection| connection.peer == peer)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, peer: PeerId) -> Option<&mut Connection> {
        let connection = self.places.get_mut(peer.index())?.connection.as_deref_mut();
        connection.filter(|connection| connection.peer == peer)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.places.iter_mut().filter_map(|place| place.connection.as_deref_mut())
    }
}
