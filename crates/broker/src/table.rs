//! The table of connections, indexed by the peer ids of the bus core.

use bus::PeerId;

use crate::connection::Connection;

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
