//! Saves and restores connections, and the descriptors that the bus keeps for them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use bus::{HeldFds, PeerId};
use serde::{Deserialize, Serialize};
use sys::poll::Poller;

use super::Switchboard;
use super::flow::is_unread;
use crate::event_loop::loop_state::LoopState;
use crate::event_loop::source::EventSource;
use crate::fault::Fault;
use crate::fd_quota::FdQuotas;
use crate::fds_in_kernel::{SavedUserFds, UserFds};
use crate::lanes::{LaneTable, RestoredLanes, SavedLanes};
use crate::outgoing::SharedFds;
use crate::saved_state::{FdCollector, RestoredFds, StateError};
use crate::table::{ConnectionTable, SavedTable};

/// The connections in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedConnections {
    table: SavedTable,
    /// Connections with messages that were read and not routed yet.
    backlog: Vec<PeerId>,
    /// Each message that is held for activation, with the index of the set of its descriptors.
    held_fds: Vec<(HeldFds, u32)>,
    user_fds: SavedUserFds,
    copied: u64,
    lanes: SavedLanes,
}

/// Connections that were restored from a saved state.
#[derive(Debug)]
pub(crate) struct RestoredConnections {
    pub(crate) table: ConnectionTable,
    backlog: Vec<PeerId>,
    held_fds: BTreeMap<HeldFds, SharedFds>,
    user_fds: UserFds,
    fd_quotas: FdQuotas,
    copied: u64,
    lanes: RestoredLanes,
}

impl Switchboard {
    /// Finishes the turn, so that queues use no shared memory and no connection has to be closed.
    pub(crate) fn settle(&mut self) {
        loop {
            self.flush();
            self.write_long_queues();
            let has_ended = self.close_ended();
            let Self { work, .. } = self;
            if !has_ended && work.awaited.is_empty() && work.passing.is_empty() {
                break;
            }
        }
        self.release_senders();
    }

    /// Saves all connections after [`Self::settle`].
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedConnections {
        let held = |(held, set): (&HeldFds, &'f SharedFds)| (*held, fds.add_shared(set));
        SavedConnections {
            held_fds: self.held_fds.iter().map(held).collect(),
            table: self.state.table.save(fds),
            backlog: self.work.backlog.iter().copied().collect(),
            user_fds: self.user_fds.save(fds),
            copied: self.buffers.copied,
            lanes: self.lanes.save(fds),
        }
    }

    /// Adds restored connections, which the poller watches, to a switchboard without connections.
    pub(crate) fn adopt(&mut self, restored: RestoredConnections) -> io::Result<()> {
        let RestoredConnections { table, backlog, held_fds, .. } = restored;
        self.state.table = table;
        self.held_fds = held_fds;
        let (lanes, failed) = LaneTable::adopt(restored.lanes);
        self.lanes = lanes;
        failed.into_iter().for_each(|error| self.state.fault(Fault::Lanes(error)));
        self.user_fds = restored.user_fds;
        self.fd_quotas = restored.fd_quotas;
        self.buffers.copied = restored.copied;
        self.work.backlog = backlog.into();
        let LoopState { table, bus, poller, now, .. } = &mut self.state;
        for connection in table.iter_mut().filter(|connection| connection.watched.is_some()) {
            let (token, may_read) =
                (EventSource::Peer(connection.peer).token(), !is_unread(connection, bus, *now));
            connection.watch(poller, token, may_read)?;
        }
        let timed = table.iter_mut().filter(|connection| connection.is_timed);
        self.work.timed = timed.map(|connection| connection.peer).collect();
        Ok(())
    }
}

impl SavedConnections {
    /// Watches all connections that were watched before.
    pub(crate) fn watch(&self, fds: &[OwnedFd], poller: &Poller) -> Result<(), StateError> {
        for (peer, socket, wanted) in self.table.watched() {
            let added = poller.add(socket.of(fds)?, EventSource::Peer(peer).token(), wanted);
            added.map_err(|error| StateError::Restore("the watch of a connection", error))?;
        }
        Ok(())
    }
}

impl RestoredConnections {
    /// Restores connections in a process that may have `open_files` open descriptors.
    pub(crate) fn new(
        saved: SavedConnections,
        fds: &mut RestoredFds,
        mut fd_quotas: FdQuotas,
        open_files: u64,
    ) -> Result<Self, StateError> {
        let SavedConnections { table, backlog, held_fds, user_fds, copied, lanes } = saved;
        let table = ConnectionTable::restore(table, fds, &mut fd_quotas)?;
        let held = held_fds.into_iter().map(|(held, set)| Ok((held, fds.shared(set)?)));
        let held_fds = held.collect::<Result<_, StateError>>()?;
        let user_fds = UserFds::restore(user_fds, fds, open_files)?;
        let lanes = RestoredLanes::new(lanes, fds)?;
        Ok(Self { table, backlog, held_fds, user_fds, fd_quotas, copied, lanes })
    }
}
