//! The sockets of lanes, and the counters by which their ends keep the order of messages.
//!
//! Each connection with a lane has a page of memory that only the bus writes:
//!
//! ```text
//!   byte 0    routed        messages of the connection that the bus has routed
//!   byte 8    name changes  how often the names of the connection have changed
//!   byte 64   queued        messages that the bus has queued for the connection
//! ```
//!
//! The connection and its partners can read it. The bus stores `queued` of each recipient before
//! `routed` of the sender, so a connection that sees its own message routed also sees that it is
//! queued for others.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Bus, LaneEnds, LaneId, PeerId};
use serde::{Deserialize, Serialize};
use sys::shared::Writable;
use sys::socket::packet_pair;
use sys::transfer::shut_down;

use crate::fd_quota::CountedFd;
use crate::outgoing::SharedFds;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// All lanes of a bus.
#[derive(Debug, Default)]
pub(crate) struct LaneTable {
    lanes: BTreeMap<LaneId, OpenLane>,
    pages: BTreeMap<PeerId, ProgressPage>,
}

#[derive(Debug)]
struct OpenLane {
    /// One of the two sockets. Shutting it down ends both directions, even if the program at the
    /// end does not cooperate.
    kept: OwnedFd,
    /// The descriptors for each end, until they are queued.
    given: Vec<(PeerId, SharedFds)>,
}

/// The counters of one connection.
#[derive(Debug)]
struct ProgressPage {
    memory: Writable,
    reader: OwnedFd,
}

/// The lanes in a saved state.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedLanes {
    lanes: Vec<(LaneId, FdIndex)>,
    pages: Vec<(PeerId, FdIndex)>,
}

/// Lanes that were restored from a saved state, with counters that are not mapped yet.
#[derive(Debug, Default)]
pub(crate) struct RestoredLanes {
    lanes: Vec<(LaneId, OwnedFd)>,
    pages: Vec<(PeerId, OwnedFd)>,
}

impl RestoredLanes {
    /// Takes the descriptors of all lanes.
    pub(crate) fn new(saved: SavedLanes, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let lane = |(lane, kept)| Ok((lane, fds.take(kept)?));
        let lanes = saved.lanes.into_iter().map(lane).collect::<Result<_, StateError>>()?;
        let page = |(peer, memory)| Ok((peer, fds.take(memory)?));
        let pages = saved.pages.into_iter().map(page).collect::<Result<_, StateError>>()?;
        Ok(Self { lanes, pages })
    }
}

impl LaneTable {
    /// Creates the sockets of a lane, and the counters of its ends.
    pub(crate) fn open(&mut self, lane: LaneId, ends: LaneEnds) -> io::Result<()> {
        let LaneEnds { one, other } = ends;
        let (socket_of_one, socket_of_other) = packet_pair()?;
        let kept = socket_of_one.try_clone()?;
        let given = vec![
            (one, self.descriptors(socket_of_one, one, other)?),
            (other, self.descriptors(socket_of_other, other, one)?),
        ];
        self.lanes.insert(lane, OpenLane { kept, given });
        Ok(())
    }

    /// The descriptors for one end, whose socket this is.
    fn descriptors(
        &mut self,
        socket: OwnedFd,
        end: PeerId,
        partner: PeerId,
    ) -> io::Result<SharedFds> {
        let (own, of_partner) = (self.page(end)?.try_clone()?, self.page(partner)?.try_clone()?);
        Ok(Rc::from([socket, own, of_partner].map(CountedFd::from)))
    }

    /// The readable counters of a connection.
    fn page(&mut self, peer: PeerId) -> io::Result<&OwnedFd> {
        let page = match self.pages.entry(peer) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(place) => {
                let (memory, reader) = Writable::new("diligence-progress", PAGE_LEN)?;
                place.insert(ProgressPage { memory, reader })
            }
        };
        Ok(&page.reader)
    }

    /// Takes the descriptors for one end of a lane.
    pub(crate) fn take_descriptors(&mut self, lane: LaneId, end: PeerId) -> Option<SharedFds> {
        let given = &mut self.lanes.get_mut(&lane)?.given;
        let place = given.iter().position(|(peer, _)| *peer == end)?;
        Some(given.swap_remove(place).1)
    }

    /// Ends a lane. What was sent before can still be received.
    pub(crate) fn close(&mut self, lane: LaneId) {
        if let Some(OpenLane { kept, given: _ }) = self.lanes.remove(&lane) {
            // It fails only if the socket is shut down already.
            let _ = shut_down(&kept);
        }
    }

    /// Frees the counters of a connection that has ended.
    pub(crate) fn forget(&mut self, peer: PeerId) {
        self.pages.remove(&peer);
    }

    /// True if a connection has counters.
    #[inline]
    pub(crate) fn are_used(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Stores the number of messages that are queued for a connection.
    #[cold]
    pub(crate) fn publish_queued(&mut self, peer: PeerId, bus: &Bus) {
        if let Some(page) = self.pages.get_mut(&peer)
            && let Some(progress) = bus.progress(peer)
        {
            page.memory.store_release(QUEUED_AT, progress.queued);
        }
    }

    /// Stores the number of messages of a connection that were routed, after everything that they
    /// caused is queued. A connection can be a recipient of its own message: the number must not
    /// change when the message is queued for the connection itself, and not yet for others.
    #[cold]
    pub(crate) fn publish_routed(&mut self, peer: PeerId, bus: &Bus) {
        if let Some(page) = self.pages.get_mut(&peer)
            && let Some(progress) = bus.progress(peer)
        {
            page.memory.store_release(ROUTED_AT, progress.routed);
        }
    }

    /// Stores how often the names of a connection have changed.
    pub(crate) fn publish_name_changes(&mut self, peer: PeerId, count: u64) {
        if let Some(page) = self.pages.get_mut(&peer) {
            page.memory.store_release(NAME_CHANGES_AT, count);
        }
    }

    /// Saves the lanes, between two inputs.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedLanes {
        let lanes = self.lanes.iter().map(|(lane, open)| (*lane, fds.add(&open.kept))).collect();
        let page = |(peer, page): (&PeerId, &'f ProgressPage)| {
            (*peer, fds.add_borrowed(page.memory.descriptor()))
        };
        SavedLanes { lanes, pages: self.pages.iter().map(page).collect() }
    }

    /// Continues restored lanes, with the counters as they were when they were saved. Returns the
    /// first error; then all lanes have ended.
    pub(crate) fn adopt(restored: RestoredLanes) -> (Self, Option<io::Error>) {
        let mut table = Self::default();
        for (lane, kept) in restored.lanes {
            table.lanes.insert(lane, OpenLane { kept, given: Vec::new() });
        }
        for (peer, memory) in restored.pages {
            match Writable::adopt(memory) {
                Ok((memory, reader)) => {
                    table.pages.insert(peer, ProgressPage { memory, reader });
                }
                Err(error) => {
                    // The ends notice that, and tell the bus which calls wait for a reply.
                    let lanes: Vec<LaneId> = table.lanes.keys().copied().collect();
                    lanes.into_iter().for_each(|lane| table.close(lane));
                    return (Self::default(), Some(error));
                }
            }
        }
        (table, None)
    }
}

/// The length of the counters in bytes: one page of the smallest size.
const PAGE_LEN: usize = 4096;

const ROUTED_AT: usize = 0;

const NAME_CHANGES_AT: usize = 8;

/// In another cache line, because other processes read it.
const QUEUED_AT: usize = 64;
