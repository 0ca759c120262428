//! The table of connections, and counters of them.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use serde::{Deserialize, Serialize, Serializer};

use super::peer::Peer;
use crate::saved_state::SavedStateError;
use crate::types::{PeerId, Time};

/// All connections, by the index that the daemon gave them.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<Peer>")]
pub(super) struct Peers {
    places: Vec<Option<Box<Peer>>>,
    /// Connections whose timer for Hello runs, by the start of the timer.
    waiting: BTreeSet<(Time, PeerId)>,
    unregistered: usize,
    registered: usize,
    /// Connections that have called Hello, by the user that they authenticated as.
    registered_by_user: HashMap<u32, usize, FixedState>,
    /// Connections that have not called Hello, by the user of their socket credentials.
    unregistered_by_user: HashMap<Option<u32>, usize, FixedState>,
}

impl Peers {
    pub(super) fn insert(&mut self, peer: Peer) {
        let id = peer.id;
        if self.places.len() <= id.index() {
            self.places.resize_with(id.index() + 1, || None);
        }
        debug_assert!(self.places[id.index()].is_none(), "{id} is connected already");
        *self.unregistered_by_user.entry(peer.credentials.uid).or_default() += 1;
        self.waiting.extend(peer.waiting_since().map(|since| (since, id)));
        self.places[id.index()] = Some(Box::new(peer));
        self.unregistered += 1;
    }

    /// Counts a connection that has called Hello.
    pub(super) fn count_registered(&mut self, id: PeerId) {
        let Some(peer) = self.get(id) else { return };
        let (kernel_user, user) = (peer.credentials.uid, peer.user);
        self.unregistered -= 1;
        count_down(&mut self.unregistered_by_user, kernel_user);
        self.registered += 1;
        if let Some(uid) = user {
            *self.registered_by_user.entry(uid).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, id: PeerId) -> Option<Box<Peer>> {
        self.stop_waiting(id);
        self.get(id)?;
        let peer = self.places[id.index()].take()?;
        if !peer.is_registered() {
            self.unregistered -= 1;
            count_down(&mut self.unregistered_by_user, peer.credentials.uid);
            return Some(peer);
        }
        self.registered -= 1;
        if let Some(uid) = peer.user {
            count_down(&mut self.registered_by_user, uid);
        }
        Some(peer)
    }

    /// Stops the timer of a connection that must call Hello.
    pub(super) fn stop_waiting(&mut self, id: PeerId) {
        if let Some(since) = self.get_mut(id).and_then(Peer::stop_waiting) {
            self.waiting.remove(&(since, id));
        }
    }

    /// The connection whose timer for Hello started first, and the start time.
    pub(super) fn first_waiting(&self) -> Option<(Time, PeerId)> {
        self.waiting.first().copied()
    }

    #[inline]
    pub(super) const fn unregistered(&self) -> usize {
        self.unregistered
    }

    #[inline]
    pub(super) const fn registered(&self) -> usize {
        self.registered
    }

    pub(super) fn registered_of(&self, uid: u32) -> usize {
        self.registered_by_user.get(&uid).copied().unwrap_or_default()
    }

    pub(super) fn unregistered_of(&self, uid: Option<u32>) -> usize {
        self.unregistered_by_user.get(&uid).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn has_several_users(&self) -> bool {
        self.registered_by_user.len() > 1
    }

    #[inline]
    pub(super) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.places.get(id.index())?.as_deref().filter(|peer| peer.id == id)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.places.get_mut(id.index())?.as_deref_mut().filter(|peer| peer.id == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.places.iter().flatten().map(|peer| &**peer)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.places.iter_mut().flatten().map(|peer| &mut **peer)
    }

    /// Checks that the counters agree with the table.
    ///
    /// # Panics
    ///
    /// Panics if they do not agree.
    pub(super) fn check(&self) {
        let mut registered_by_user = HashMap::<u32, usize, FixedState>::default();
        let mut unregistered_by_user = HashMap::<Option<u32>, usize, FixedState>::default();
        let (mut registered, mut unregistered) = (0, 0);
        for peer in self.iter() {
            if peer.is_registered() {
                registered += 1;
                peer.user.into_iter().for_each(|uid| {
                    *registered_by_user.entry(uid).or_default() += 1;
                });
            } else {
                unregistered += 1;
                *unregistered_by_user.entry(peer.credentials.uid).or_default() += 1;
            }
        }
        assert_eq!((self.registered, self.unregistered), (registered, unregistered));
        assert_eq!(self.registered_by_user, registered_by_user);
        assert_eq!(self.unregistered_by_user, unregistered_by_user);
        for (since, id) in &self.waiting {
            let peer = self.get(*id).unwrap_or_else(|| panic!("{id} waits and is gone"));
            assert_eq!(peer.waiting_since(), Some(*since), "{id}");
        }
        let waiting = self.iter().filter(|peer| peer.waiting_since().is_some()).count();
        assert_eq!(self.waiting.len(), waiting, "connections whose time for Hello runs");
    }
}

impl Serialize for Peers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Restores the table from the connections in it.
impl TryFrom<Vec<Peer>> for Peers {
    type Error = SavedStateError;

    fn try_from(saved: Vec<Peer>) -> Result<Self, SavedStateError> {
        let mut peers = Self::default();
        for peer in saved {
            let id = peer.id;
            id.check_index()?;
            if peers.places.get(id.index()).is_some_and(Option::is_some) {
                return Err(SavedStateError::Duplicate("connection"));
            }
            let is_registered = peer.is_registered();
            peers.insert(peer);
            if is_registered {
                peers.count_registered(id);
            }
        }
        Ok(peers)
    }
}

/// Decrements the counter of a key, and removes the key when the counter is 0.
fn count_down<K: Eq + Hash>(counts: &mut HashMap<K, usize, FixedState>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    use crate::policy::ClientPolicies;
    use crate::types::Configuration;

    use crate::types::{BusLimits, ConnectionCredentials};

    const WAITING: PeerId = PeerId::new(0, 0);
    const REGISTERED: PeerId = PeerId::new(1, 0);

    /// A connection that has not called Hello, and a connection that has.
    fn peers() -> Peers {
        let mut peers = Peers::default();
        let config = Configuration::default();
        let policy = ClientPolicies::default().of(&config.policy, Some(7), None);
        for id in [WAITING, REGISTERED] {
            let credentials = ConnectionCredentials { pid: None, uid: Some(7) };
            peers.insert(Peer::new(id, credentials, &BusLimits::default(), Time::default()));
        }
        peers.stop_waiting(REGISTERED);
        peers.get_mut(REGISTERED).expect("it is there").register(0, policy);
        peers.count_registered(REGISTERED);
        peers
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            peers,
            Peers::check,
            &[
                ("registered connections", |peers| peers.registered += 1),
                ("unregistered connections", |peers| peers.unregistered -= 1),
                ("registered connections by user", |peers| {
                    peers.registered_by_user.insert(7, 2);
                }),
                ("registered connections of another user", |peers| {
                    peers.registered_by_user.insert(8, 1);
                }),
                ("unregistered connections by user", |peers| peers.unregistered_by_user.clear()),
                ("a timer of a missing connection", |peers| {
                    peers.waiting.insert((Time::default(), PeerId::new(9, 0)));
                }),
                ("a connection without its time limit", |peers| peers.waiting.clear()),
                ("another time limit", |peers| {
                    peers.waiting = [(Time::from_nanos(1), WAITING)].into();
                }),
                ("a connection that is gone", |peers| peers.places[1] = None),
            ],
        );
    }
}
