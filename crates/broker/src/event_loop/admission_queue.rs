//! The admission queue: connected peers that are not served yet, because other connections of the same
//! user have not called Hello.
//!
//! As long as there are places, every peer gets one. If there are none, a peer whose user holds half
//! of them waits here, and peers of other users are served nevertheless. So no user can keep others
//! out by connecting and staying silent.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bus::{ConnectionCredentials, ContainerId};
use serde::{Deserialize, Serialize};

use super::entrance::Entrance;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};
use crate::throttled_peer::ThrottleOutcome;

/// A peer that has connected and waits to be served.
#[derive(Debug)]
pub(super) struct PendingPeer {
    pub(super) socket: OwnedFd,
    /// The listener that it connected to.
    pub(super) entrance: Entrance,
    pub(super) credentials: ConnectionCredentials,
    /// The time before which it is not read, because of the rate limit.
    pub(super) served_at: Option<Duration>,
}

/// A waiting peer in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedPendingPeer {
    socket: FdIndex,
    entrance: Entrance,
    credentials: ConnectionCredentials,
    served_at: Option<Duration>,
}

/// The result of adding a peer to the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Admission {
    pub(super) outcome: ThrottleOutcome,
    /// Number of peers of the same user before it.
    pub(super) ahead: usize,
}

/// Waiting peers, first in, first out.
#[derive(Debug, Default)]
pub(super) struct AdmissionQueue {
    pub(super) waiting: VecDeque<PendingPeer>,
}

impl AdmissionQueue {
    /// Saves all waiting peers.
    pub(super) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> Vec<SavedPendingPeer> {
        let save = |peer: &'f PendingPeer| SavedPendingPeer {
            socket: fds.add(&peer.socket),
            entrance: peer.entrance,
            credentials: peer.credentials.clone(),
            served_at: peer.served_at,
        };
        self.waiting.iter().map(save).collect()
    }

    /// Restores the waiting peers of a bus that has these listeners.
    pub(super) fn restore(
        saved: Vec<SavedPendingPeer>,
        fds: &mut RestoredFds,
        has_listener: impl Fn(Entrance) -> bool,
    ) -> Result<Self, StateError> {
        let mut queue = Self::default();
        for SavedPendingPeer { socket, entrance, credentials, served_at } in saved {
            if !has_listener(entrance) {
                return Err(StateError::Inconsistent("a peer connected to a missing listener"));
            }
            let socket = fds.take(socket)?;
            queue.waiting.push_back(PendingPeer { socket, entrance, credentials, served_at });
        }
        Ok(queue)
    }

    /// Adds a peer at the end, unless too many of its user wait already.
    pub(super) fn join(&mut self, peer: PendingPeer) -> Admission {
        let uid = peer.credentials.uid;
        let ahead = self.waiting.iter().filter(|other| other.credentials.uid == uid).count();
        if ahead >= WAITING_MAX {
            return Admission { outcome: ThrottleOutcome::Rejected, ahead };
        }
        self.waiting.push_back(peer);
        Admission { outcome: ThrottleOutcome::Delayed, ahead }
    }

    /// Drops the peers that have connected to a container, because it accepts none any more.
    pub(super) fn drop_peers_of(&mut self, container: ContainerId) {
        self.waiting.retain(|peer| peer.entrance.container() != Some(container));
    }

    /// Removes the peer that has waited longest.
    pub(super) fn next(&mut self) -> Option<PendingPeer> {
        self.waiting.pop_front()
    }
}

/// The maximum number of waiting peers of one user. In normal use, fewer are about to call Hello.
const WAITING_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(uid: u32, pid: u32) -> PendingPeer {
        let (socket, _) = sys::socket::socket_pair().unwrap();
        let credentials = ConnectionCredentials { pid: Some(pid), uid: Some(uid) };
        PendingPeer { socket, entrance: Entrance::Configured(0), credentials, served_at: None }
    }

    #[test]
    fn peers_are_served_in_order_and_no_user_fills_the_queue() {
        let mut queue = AdmissionQueue::default();
        let waits = |ahead| Admission { outcome: ThrottleOutcome::Delayed, ahead };
        assert_eq!(queue.join(peer(7, 1)), waits(0));
        assert_eq!(queue.join(peer(8, 2)), waits(0));
        for ahead in 1..WAITING_MAX {
            assert_eq!(queue.join(peer(7, 3)), waits(ahead));
        }
        let rejected = Admission { outcome: ThrottleOutcome::Rejected, ahead: WAITING_MAX };
        assert_eq!(queue.join(peer(7, 0)), rejected);
        assert_eq!(queue.join(peer(8, 0)), waits(1));
        let pids = [queue.next(), queue.next()].map(|next| next.unwrap().credentials.pid);
        assert_eq!(pids, [Some(1), Some(2)]);
        assert_eq!(queue.join(peer(7, 0)), waits(WAITING_MAX - 1));
    }
}
