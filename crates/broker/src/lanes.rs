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
//!
//! Each of these connections also has a page that it writes and the bus reads, for statistics: the
//! messages that it has exchanged on its lanes. It may write anything.
//!
//! ```text
//!   byte 0   messages sent         byte 8   bytes of them
//!   byte 16  messages received     byte 24  bytes of them
//! ```

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use bus::{Bus, ForeignError, LaneCounts, LaneEnds, LaneId, PeerId};
use serde::{Deserialize, Serialize};
use sys::shared::{self, ReadOnly, Writable};
use sys::socket::packet_pair;
use sys::transfer::shut_down;

use crate::fd_quota::FdQuotas;
use crate::os_error::OsError;
use crate::outgoing::SharedFds;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// All lanes of a bus.
#[derive(Debug, Default)]
pub(crate) struct LaneTable {
    lanes: BTreeMap<LaneId, OpenLane>,
    pages: BTreeMap<PeerId, CounterPages>,
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
struct CounterPages {
    progress: Writable,
    /// For readers of the progress.
    reader: OwnedFd,
    traffic: ReadOnly,
    /// For the writer of the traffic.
    writer: OwnedFd,
}

impl CounterPages {
    fn new() -> io::Result<Self> {
        let (progress, reader) = Writable::new("diligence-progress", PAGE_LEN)?;
        let writer = shared::create("diligence-traffic", PAGE_LEN)?;
        let traffic = ReadOnly::map(writer.as_fd())?;
        Ok(Self { progress, reader, traffic, writer })
    }

    fn adopt(progress: OwnedFd, writer: OwnedFd) -> io::Result<Self> {
        let (progress, reader) = Writable::adopt(progress)?;
        let traffic = ReadOnly::map(writer.as_fd())?;
        Ok(Self { progress, reader, traffic, writer })
    }

    fn traffic(&self) -> LaneCounts {
        let [sent, sent_bytes, received, received_bytes] =
            [0, 8, 16, 24].map(|at| self.traffic.load(at));
        LaneCounts { sent, sent_bytes, received, received_bytes }
    }
}

/// The lanes in a saved state.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedLanes {
    lanes: Vec<(LaneId, FdIndex)>,
    pages: Vec<(PeerId, SavedPages)>,
}

/// The descriptors of the counters of a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SavedPages {
    progress: FdIndex,
    traffic: FdIndex,
}

/// Lanes that were restored from a saved state, with counters that are not mapped yet.
#[derive(Debug, Default)]
pub(crate) struct RestoredLanes {
    lanes: Vec<(LaneId, OwnedFd)>,
    pages: Vec<(PeerId, RestoredPages)>,
}

/// The descriptors of counters that are not mapped yet.
#[derive(Debug)]
struct RestoredPages {
    progress: OwnedFd,
    traffic: OwnedFd,
}

impl RestoredLanes {
    /// Takes the descriptors of all lanes.
    pub(crate) fn new(saved: SavedLanes, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let lane = |(lane, kept)| Ok((lane, fds.take(kept)?));
        let lanes = saved.lanes.into_iter().map(lane).collect::<Result<_, StateError>>()?;
        let page = |(peer, SavedPages { progress, traffic })| {
            let (progress, traffic) = (fds.take(progress)?, fds.take(traffic)?);
            Ok((peer, RestoredPages { progress, traffic }))
        };
        let pages = saved.pages.into_iter().map(page).collect::<Result<_, StateError>>()?;
        Ok(Self { lanes, pages })
    }
}

impl LaneTable {
    /// Creates the sockets of a lane, and the counters of its ends. The descriptors count against
    /// the users of the ends until they are written: a program may ask for lanes and not read them.
    pub(crate) fn open(
        &mut self,
        lane: LaneId,
        ends: LaneEnds,
        users: [Option<u32>; 2],
        quotas: &mut FdQuotas,
    ) -> Result<(), ForeignError> {
        let LaneEnds { one, other } = ends;
        let [user_of_one, user_of_other] = users;
        let (socket_of_one, socket_of_other) = packet_pair().map_err(failed)?;
        let kept = socket_of_one.try_clone().map_err(failed)?;
        let for_one = self.descriptors(socket_of_one, one, other).map_err(failed)?;
        let for_other = self.descriptors(socket_of_other, other, one).map_err(failed)?;
        let given = vec![
            (one, count(for_one, user_of_one, quotas)?),
            (other, count(for_other, user_of_other, quotas)?),
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
    ) -> io::Result<Vec<OwnedFd>> {
        let of_partner = self.pages_of(partner)?.reader.try_clone()?;
        let own = self.pages_of(end)?;
        let (own, traffic) = (own.reader.try_clone()?, own.writer.try_clone()?);
        Ok(vec![socket, own, of_partner, traffic])
    }

    fn pages_of(&mut self, peer: PeerId) -> io::Result<&CounterPages> {
        Ok(match self.pages.entry(peer) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(place) => place.insert(CounterPages::new()?),
        })
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
            page.progress.store_release(QUEUED_AT, progress.queued);
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
            page.progress.store_release(ROUTED_AT, progress.routed);
        }
    }

    /// Stores how often the names of a connection have changed.
    pub(crate) fn publish_name_changes(&mut self, peer: PeerId, count: u64) {
        if let Some(page) = self.pages.get_mut(&peer) {
            page.progress.store_release(NAME_CHANGES_AT, count);
        }
    }

    /// The messages that a connection has exchanged on its lanes; `None` if it has no counters.
    pub(crate) fn traffic_of(&self, peer: PeerId) -> Option<LaneCounts> {
        self.pages.get(&peer).map(CounterPages::traffic)
    }

    /// The messages that each connection has exchanged on its lanes.
    pub(crate) fn traffic(&self) -> impl Iterator<Item = (PeerId, LaneCounts)> {
        self.pages.iter().map(|(peer, pages)| (*peer, pages.traffic()))
    }

    /// Saves the lanes, between two inputs.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedLanes {
        let lanes = self.lanes.iter().map(|(lane, open)| (*lane, fds.add(&open.kept))).collect();
        let saved = |(peer, pages): (&PeerId, &'f CounterPages)| {
            let progress = fds.add_borrowed(pages.progress.descriptor());
            (*peer, SavedPages { progress, traffic: fds.add(&pages.writer) })
        };
        SavedLanes { lanes, pages: self.pages.iter().map(saved).collect() }
    }

    /// Continues restored lanes, with the counters as they were when they were saved. Returns the
    /// first error; then all lanes have ended.
    pub(crate) fn adopt(restored: RestoredLanes) -> (Self, Option<io::Error>) {
        let mut table = Self::default();
        for (lane, kept) in restored.lanes {
            table.lanes.insert(lane, OpenLane { kept, given: Vec::new() });
        }
        for (peer, RestoredPages { progress, traffic }) in restored.pages {
            match CounterPages::adopt(progress, traffic) {
                Ok(pages) => {
                    table.pages.insert(peer, pages);
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

fn failed(error: io::Error) -> ForeignError {
    ForeignError::new(OsError::from(error))
}

/// Counts descriptors for a connection against the quota of its user.
fn count(
    mut fds: Vec<OwnedFd>,
    user: Option<u32>,
    quotas: &mut FdQuotas,
) -> Result<SharedFds, ForeignError> {
    let mut counted = Vec::new();
    quotas.take(user, &mut fds, &mut counted).map_err(ForeignError::new)?;
    Ok(counted.into())
}

/// The length of the counters in bytes: one page of the smallest size.
const PAGE_LEN: usize = 4096;

const ROUTED_AT: usize = 0;

const NAME_CHANGES_AT: usize = 8;

/// In another cache line, because other processes read it.
const QUEUED_AT: usize = 64;
