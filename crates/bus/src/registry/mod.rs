//! The registry of connections and of names with their owners ("Message Bus Names").

mod names;
mod peer;
mod peers;

use alloc::rc::Rc;
use core::ops::{Index, IndexMut};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use wire::message::SenderField;
use wire::names::BusName;

use crate::hash::KeyedState;
use crate::policy::{ClientPolicy, CounterpartNames};
use crate::saved_state::SavedStateError;
use crate::types::{
    BusLimits, Configuration, ConnectionCredentials, DescriptorPassing, NAMES_MAX, PeerId,
    PeerSnapshot, Time,
};

use names::{Leave, NameId, Names, Request};
pub(crate) use names::{OwnerChange, Released, RequestFlags, Requested};
pub(crate) use peer::Peer;
use peers::Peers;

/// All connections and names of a bus.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "SavedRegistry")]
pub(crate) struct Registry {
    peers: Peers,
    /// Connections by the number in their unique name. The bus chooses the numbers, so the hasher
    /// does not need a secret key.
    #[serde(skip)]
    by_number: HashMap<u64, PeerId, FixedState>,
    names: Names,
    next_number: u64,
    name_counts: NameCounts,
    /// Incremented when the owner of a name changes.
    owner_generation: u64,
    /// The sender header field of connections without a unique name.
    #[serde(skip)]
    unregistered: SenderField,
}

/// Numbers of names: unique names, and entries in the queues of well-known names.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NameCounts {
    /// Number of names at present.
    pub(crate) current: usize,
    /// Most names at the same time.
    pub(crate) peak: usize,
    /// Most names of one connection.
    pub(crate) peak_of_peer: usize,
}

impl Registry {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            peers: Peers::default(),
            by_number: HashMap::default(),
            names: Names::new(hasher),
            next_number: 0,
            name_counts: NameCounts::default(),
            owner_generation: 0,
            unregistered: unregistered_sender(),
        }
    }
}

fn unregistered_sender() -> SenderField {
    SenderField::new(BusName::new(peer::UNREGISTERED).expect("a valid name"))
}

/// The registry in the saved state: the fields of [`Registry`] that are saved, in the same order.
#[derive(Deserialize)]
struct SavedRegistry {
    peers: Peers,
    names: Names,
    next_number: u64,
    name_counts: NameCounts,
    owner_generation: u64,
}

impl TryFrom<SavedRegistry> for Registry {
    type Error = SavedStateError;

    fn try_from(saved: SavedRegistry) -> Result<Self, SavedStateError> {
        let SavedRegistry { mut peers, names, next_number, name_counts, owner_generation } = saved;
        let mut by_number = HashMap::default();
        for (number, id) in peers.iter().filter_map(|peer| Some((peer.number()?, peer.id))) {
            if by_number.insert(number, id).is_some() {
                return Err(SavedStateError::Duplicate("unique name"));
            }
        }
        for (peer, ticket, name) in names.claims() {
            let peer = peers.get_mut(peer).ok_or(SavedStateError::UnknownConnection(peer))?;
            peer.restore_name(ticket, name);
        }
        let unregistered = unregistered_sender();
        Ok(Self {
            peers,
            by_number,
            names,
            next_number,
            name_counts,
            owner_generation,
            unregistered,
        })
    }
}

/// Adding and removing of connections.
impl Registry {
    /// Adds a connection that was accepted.
    pub(crate) fn connect(
        &mut self,
        id: PeerId,
        credentials: ConnectionCredentials,
        limits: &BusLimits,
        now: Time,
    ) {
        self.peers.insert(Peer::new(id, credentials, limits, now));
    }

    /// Records that the handshake of a connection has succeeded.
    pub(crate) fn authenticate(
        &mut self,
        id: PeerId,
        user: Option<u32>,
        fds: DescriptorPassing,
        config: &Configuration,
    ) {
        if let Some(peer) = self.peers.get_mut(id)
            && peer.authenticate(user, fds)
        {
            peer.set_limits(config.limits_of(user));
        }
    }

    /// Gives a connection its unique name and its policy.
    pub(crate) fn register(&mut self, id: PeerId, policy: Rc<ClientPolicy>) {
        self.peers.stop_waiting(id);
        let Some(peer) = self.peers.get_mut(id) else { return };
        let number = self.next_number;
        self.next_number += 1;
        peer.register(number, policy);
        self.peers.count_registered(id);
        self.by_number.insert(number, id);
        self.count_name(id);
    }

    /// Makes a connection a monitor. Its names must have been [removed](Self::take_first_name)
    /// before.
    pub(crate) fn become_monitor(&mut self, id: PeerId) {
        self[id].become_monitor();
    }

    /// Records that a connection has ended. Its names are [removed](Self::take_last_name)
    /// afterwards.
    pub(crate) fn close(&mut self, id: PeerId) {
        self[id].close();
    }

    /// Stops the timer of a connection that must call Hello.
    pub(crate) fn stop_waiting(&mut self, id: PeerId) {
        self.peers.stop_waiting(id);
    }

    /// Removes a connection that does not have names any more.
    pub(crate) fn remove(&mut self, id: PeerId) {
        let number = self.peers.remove(id).and_then(|peer| peer.number());
        number.and_then(|number| self.by_number.remove(&number));
    }

    /// The connection whose timer for Hello started first, and the start time.
    pub(crate) fn first_waiting(&self) -> Option<(Time, PeerId)> {
        self.peers.first_waiting()
    }
}

/// Methods that read connections.
impl Registry {
    #[inline]
    pub(crate) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.peers.get(id)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.get_mut(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.peers.iter_mut()
    }

    /// Connections that have called Hello, each with the number in its unique name.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (PeerId, u64)> {
        self.by_number.iter().map(|(&number, &peer)| (peer, number))
    }

    /// Number of connections that have called Hello.
    pub(crate) const fn registered(&self) -> usize {
        self.peers.registered()
    }

    /// Number of connections of a user that have called Hello.
    pub(crate) fn registered_of(&self, uid: u32) -> usize {
        self.peers.registered_of(uid)
    }

    /// Number of connections that have not called Hello.
    pub(crate) const fn unregistered(&self) -> usize {
        self.peers.unregistered()
    }

    /// Number of connections without Hello whose socket credentials name this user.
    pub(crate) fn unregistered_of(&self, uid: Option<u32>) -> usize {
        self.peers.unregistered_of(uid)
    }

    /// True if connections of more than one user have called Hello.
    #[inline]
    pub(crate) fn has_several_users(&self) -> bool {
        self.peers.has_several_users()
    }

    /// The header field that names a connection as the sender of a message.
    #[inline]
    pub(crate) fn sender_field(&self, id: PeerId) -> &SenderField {
        self[id].sender_field().unwrap_or(&self.unregistered)
    }

    /// The description of a connection for the history; `None` if it is gone.
    pub(crate) fn snapshot(&self, id: PeerId) -> Option<PeerSnapshot> {
        let peer = self.get(id)?;
        Some(PeerSnapshot {
            unique_name: peer.unique_name().map(Into::into),
            names: self.owned_names(id).take(NAMES_MAX).map(Into::into).collect(),
            process: peer.process.as_deref().cloned().unwrap_or_default(),
            ..peer.nameless_snapshot()
        })
    }
}

/// Unique names and well-known names.
impl Registry {
    /// The connection that a name refers to: a unique name, or a well-known name with an owner.
    #[inline]
    pub(crate) fn resolve(&self, name: BusName<'_>) -> Option<PeerId> {
        match name.as_str().strip_prefix(":1.") {
            Some(number) => {
                let id = *self.by_number.get(&parse_number(number)?)?;
                self.get(id).filter(|peer| peer.is_active()).map(|_| id)
            }
            None => self.names.owner_of(name.as_str()),
        }
    }

    /// The owner of a well-known name.
    #[inline]
    pub(crate) fn owner_of(&self, name: &str) -> Option<PeerId> {
        self.names.owner_of(name)
    }

    /// True if a connection has a unique name, or owns a well-known name.
    pub(crate) fn owns(&self, id: PeerId, name: &str) -> bool {
        if name.starts_with(':') {
            self.get(id).is_some_and(|peer| peer.unique_name() == Some(name))
        } else {
            self.owner_of(name) == Some(id)
        }
    }

    /// The well-known names that a connection owns, in the order in which it requested them.
    pub(crate) fn owned_names(&self, id: PeerId) -> impl Iterator<Item = &str> {
        let owned = self.name_ids(id).filter(move |name| self.names.owner(*name) == id);
        owned.map(|name| self.names.text(name))
    }

    /// The well-known names that a connection owns or waits for, in the order of its requests.
    pub(crate) fn requested_names(&self, id: PeerId) -> impl Iterator<Item = &str> {
        self.name_ids(id).map(|name| self.names.text(name))
    }

    fn name_ids(&self, id: PeerId) -> impl Iterator<Item = NameId> {
        let registration = self.get(id).and_then(Peer::registration);
        registration.into_iter().flat_map(|it| it.names().values().copied())
    }

    /// All well-known names that have an owner, in arbitrary order.
    pub(crate) fn well_known_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// The queue of a well-known name: its owner first, then the waiting connections.
    pub(crate) fn queue_of(&self, name: &str) -> impl Iterator<Item = PeerId> {
        self.names.find(name).into_iter().flat_map(|id| self.names.queue(id))
    }

    /// True if a connection owns a well-known name, or waits for it.
    pub(crate) fn is_in_queue(&self, name: &str, peer: PeerId) -> bool {
        self.names.find(name).is_some_and(|id| self.names.is_in_queue(id, peer))
    }

    /// Implements the method RequestName.
    pub(crate) fn request_name(
        &mut self,
        peer: PeerId,
        name: &str,
        flags: RequestFlags,
    ) -> (Requested, Option<OwnerChange>) {
        let Request { id, result, joined, left, change } = self.names.request(name, peer, flags);
        if let Some(ticket) = joined {
            self[peer].add_name(ticket, id);
            self.count_name(peer);
        }
        if let Some((other, ticket)) = left {
            self[other].remove_name(ticket);
            self.name_counts.current -= 1;
        }
        (result, change)
    }

    /// Implements the method ReleaseName.
    pub(crate) fn release_name(
        &mut self,
        peer: PeerId,
        name: &str,
    ) -> (Released, Option<OwnerChange>) {
        let Some(id) = self.names.find(name) else { return (Released::NonExistent, None) };
        let Some(Leave { ticket, change }) = self.names.leave(id, peer) else {
            return (Released::NotOwner, None);
        };
        self[peer].remove_name(ticket);
        self.name_counts.current -= 1;
        (Released::Done, change)
    }

    /// Removes the well-known name that a connection requested first. Returns `None` if it has no
    /// names; otherwise the change of owner, if the connection was the owner.
    pub(crate) fn take_first_name(&mut self, peer: PeerId) -> Option<Option<OwnerChange>> {
        let name = self[peer].pop_first_name()?;
        Some(self.leave(name, peer))
    }

    /// Removes the well-known name that a connection requested last, like
    /// [`Self::take_first_name`].
    pub(crate) fn take_last_name(&mut self, peer: PeerId) -> Option<Option<OwnerChange>> {
        let name = self[peer].pop_last_name()?;
        Some(self.leave(name, peer))
    }

    fn leave(&mut self, name: NameId, peer: PeerId) -> Option<OwnerChange> {
        self.name_counts.current -= 1;
        self.names.leave(name, peer)?.change
    }

    /// Removes the unique name of a connection from the count, because it cannot be used any more.
    pub(crate) const fn uncount_unique_name(&mut self) {
        self.name_counts.current -= 1;
    }

    /// Counts a new name of a connection: its unique name, or an entry in a queue.
    fn count_name(&mut self, peer: PeerId) {
        let of_peer = self[peer].name_count();
        let counts = &mut self.name_counts;
        counts.current += 1;
        counts.peak = counts.peak.max(counts.current);
        counts.peak_of_peer = counts.peak_of_peer.max(of_peer);
    }

    pub(crate) const fn name_counts(&self) -> NameCounts {
        self.name_counts
    }

    /// A number that changes when the owner of a name changes.
    #[inline]
    pub(crate) const fn owner_generation(&self) -> u64 {
        self.owner_generation
    }

    /// Records that the owner of a name has changed.
    pub(crate) const fn owner_changed(&mut self) {
        self.owner_generation += 1;
    }

    /// The names of a connection, as policy rules see them.
    pub(crate) fn names_of(&self, id: PeerId) -> PeerNames<'_> {
        PeerNames { peer: &self[id], names: &self.names }
    }

    /// Checks that every name has a connection, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self) {
        self.peers.check();
        let registered = self.iter().filter(|peer| peer.is_registered());
        let (mut names, mut places) = (0, 0);
        for peer in registered {
            let number = peer.number().expect("it is registered");
            assert_eq!(self.by_number.get(&number), Some(&peer.id), "unique name of {}", peer.id);
            names += peer.name_count();
            let owned = peer.registration().into_iter().flat_map(|it| it.names().values());
            for name in owned {
                places += 1;
                assert!(self.names.is_in_queue(*name, peer.id), "{} and its name", peer.id);
            }
            peer.queue.check();
        }
        assert_eq!(self.by_number.len(), self.registered(), "one unique name for each connection");
        assert_eq!(self.name_counts.current, names, "unique names and places in queues");
        let queued = self.names.check(|id| self.get(id).is_some_and(Peer::is_active));
        assert_eq!(queued, places, "places in queues, and names of connections");
    }
}

impl Index<PeerId> for Registry {
    type Output = Peer;

    #[inline]
    fn index(&self, id: PeerId) -> &Peer {
        self.get(id).unwrap_or_else(|| panic!("{id} is not connected"))
    }
}

impl IndexMut<PeerId> for Registry {
    #[inline]
    fn index_mut(&mut self, id: PeerId) -> &mut Peer {
        self.get_mut(id).unwrap_or_else(|| panic!("{id} is not connected"))
    }
}

/// The names of a connection that policy rules test: all that it owns or is queued for.
#[derive(Clone, Copy)]
pub(crate) struct PeerNames<'a> {
    peer: &'a Peer,
    names: &'a Names,
}

impl CounterpartNames for PeerNames<'_> {
    fn len(&self) -> usize {
        1 + self.peer.registration().map_or(0, |registration| registration.names().len())
    }

    fn contains(&self, name: &str) -> bool {
        self.peer.unique_name() == Some(name)
            || self.names.find(name).is_some_and(|id| self.names.is_in_queue(id, self.peer.id))
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let registration = self.peer.registration().into_iter();
        let others = registration.flat_map(|it| it.names().values().copied());
        self.peer.unique_name().into_iter().chain(others.map(|id| self.names.text(id)))
    }
}

/// Parses the number in a unique name. Accepts only the form that the bus writes.
fn parse_number(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    canonical.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    use crate::policy::ClientPolicies;
    use crate::types::Amount;

    #[test]
    fn unique_names_are_numbers_without_ornament() {
        let cases = [
            ("0", Some(0)),
            ("1", Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("00", None),
            ("01", None),
            ("+1", None),
            ("-1", None),
            ("1.1", None),
            ("x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_number(text), expected, "{text}");
        }
    }

    const OWNER: PeerId = PeerId::new(0, 0);
    const WAITING: PeerId = PeerId::new(1, 0);

    /// Two connections: one owns a name, and the other waits for it.
    fn registry() -> Registry {
        let mut registry = Registry::new(KeyedState::new(0.into()));
        let config = Configuration::default();
        let policy = ClientPolicies::default().of(&config.policy, Some(7), None);
        for id in [OWNER, WAITING] {
            let credentials = ConnectionCredentials { pid: None, uid: Some(7) };
            registry.connect(id, credentials, &config.limits, Time::default());
            registry.authenticate(id, Some(7), DescriptorPassing::Refused, &config);
            registry.register(id, Rc::clone(&policy));
            registry.request_name(id, "a.b", RequestFlags::from_bits(0));
        }
        registry
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            registry,
            Registry::check,
            &[
                ("no connection by its unique name", |registry| registry.by_number.clear()),
                ("another connection by a unique name", |registry| {
                    registry.by_number.insert(0, WAITING);
                }),
                ("a unique name more", |registry| {
                    registry.by_number.insert(9, WAITING);
                }),
                ("the number of names", |registry| registry.name_counts.current += 1),
                ("a name that its owner does not know", |registry| {
                    registry.names.request("a.c", OWNER, RequestFlags::from_bits(0));
                }),
                ("an owner that is not in the queue", |registry| {
                    let id = registry.names.find("a.b").expect("it is owned");
                    registry.names.leave(id, OWNER);
                }),
                ("an owner that has ended", |registry| {
                    registry[OWNER].close();
                    registry.name_counts.current -= 1;
                }),
                ("a queue of the wrong length", |registry| {
                    registry[OWNER].queue.push(8, 0);
                    registry[OWNER].queue.pop(Amount { messages: 1, bytes: 4, fds: 0 });
                }),
                ("a connection without its place in the table", |registry| {
                    registry.peers.remove(OWNER);
                }),
            ],
        );
    }
}
