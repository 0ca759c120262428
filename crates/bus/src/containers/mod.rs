//! Containers: groups of connections whose socket a program has created for a sandbox
//! (`org.freedesktop.DBus.Containers1`).
//!
//! ```text
//!   AddServer ──▶ Opening ──the daemon listens──▶ Listening ──StopListening, creator gone──▶ Closed
//!                    └──failed──▶ (removed)
//! ```
//!
//! A container exists until its socket is closed and it has no connections. This component stores
//! the containers. It produces no effects: the driver closes sockets and sends the signals.

mod filter;
mod judge;
mod metadata;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use sandbox::SandboxRules;
use serde::{Deserialize, Serialize};

pub(crate) use filter::{
    ContainerFilter, ContainerRules, DescriptorRules, FilterDenial, OutgoingBroadcasts, UniqueNames,
};
pub(crate) use judge::{FilteredLevel, FilteredMessage};
pub(crate) use metadata::{ContainerMetadata, DescriptorInMetadata};

use crate::registry::{Peer, Registry};
use crate::types::{
    BusLimits, ContainerDescription, ContainerId, Details, DisconnectReason, PeerId,
};

/// All containers of a bus.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Containers {
    all: BTreeMap<ContainerId, Container>,
    /// The id of the next container; `None` if all ids were used.
    next: NextId,
    /// The connections that asked for the container of the sender in each message to them.
    labeled: BTreeSet<PeerId>,
}

/// The id of the next container.
#[derive(Debug, Serialize, Deserialize)]
enum NextId {
    Free(ContainerId),
    NoneLeft,
}

impl Default for NextId {
    fn default() -> Self {
        Self::Free(ContainerId::default())
    }
}

/// A container with its connections.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Container {
    pub(crate) description: ContainerDescription,
    pub(crate) metadata: ContainerMetadata,
    /// The connection that created it, which may have ended.
    creator: PeerId,
    pub(crate) creator_facts: CreatorFacts,
    /// The user who created it. Only processes of this user may connect.
    pub(crate) uid: u32,
    lifetime: ContainerLifetime,
    origin: SocketOrigin,
    represented_by: Representation,
    socket: SocketStage,
    connections: BTreeSet<PeerId>,
    /// What its connections may see and do; `None` for everything that others may.
    filter: Option<ContainerFilter>,
}

/// What ends a container, apart from the method StopInstance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ContainerLifetime {
    /// The socket is closed when the creator disconnects.
    Creator,
    /// The container is stopped when the creator's end of a pipe is closed.
    Pipe,
}

/// The process that has opened the socket of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum SocketOrigin {
    /// The bus has opened it.
    Bus,
    /// The creator has opened it. It is the user of the bus or root, so its connections are not limited.
    Creator,
}

/// The process that other programs see when they ask who a connection in a container is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Representation {
    /// The process of the connection itself.
    #[default]
    Itself,
    /// The process of the creator. Portals look for the identity of a sandbox in the root directory
    /// of the process, which a sandboxed program may be able to change, or leave behind when its
    /// process id is used again.
    Creator,
}

/// Facts about the process that created a container, which outlive its connection.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CreatorFacts {
    pub(crate) pid: Option<u32>,
    pub(crate) groups: Option<Box<[u32]>>,
    pub(crate) security_label: Option<Box<[u8]>>,
}

/// The stage of the socket of a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum SocketStage {
    /// The daemon was asked to listen.
    Opening,
    /// The daemon listens on the socket.
    Listening,
    /// The daemon does not listen any more.
    Closed,
}

/// What a program defines about a new container.
pub(crate) struct NewContainer<'m> {
    pub(crate) kind: &'m str,
    pub(crate) name: &'m str,
    pub(crate) metadata: ContainerMetadata,
    pub(crate) creator: PeerId,
    pub(crate) creator_pid: Option<u32>,
    pub(crate) uid: u32,
    pub(crate) rules: Option<ContainerRules>,
    pub(crate) lifetime: ContainerLifetime,
    pub(crate) origin: SocketOrigin,
    pub(crate) represented_by: Representation,
}

/// A limit does not allow another container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TooManyContainers {
    /// The limit on all containers.
    OfBus { max: u64, used: u64 },
    /// The limit on the containers of one user.
    OfUser { max: u64, used: u64 },
    /// Every id has been used.
    NoIdsLeft,
}

/// Whether a container still exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Remaining {
    /// It has a socket or connections.
    Exists,
    /// It was removed, and subscribers do not know yet.
    Removed,
}

impl Containers {
    /// Checks that a user may create another container. Those whose sockets the user of the bus has
    /// opened do not count for the limit of a user.
    pub(crate) fn check_room(
        &self,
        uid: u32,
        origin: SocketOrigin,
        limits: &BusLimits,
    ) -> Result<(), TooManyContainers> {
        let (max, used) = (limits.max_containers, self.all.len() as u64);
        if used >= max {
            return Err(TooManyContainers::OfBus { max, used });
        }
        let is_counted = |other: &&Container| other.uid == uid && other.origin == SocketOrigin::Bus;
        let used = self.all.values().filter(is_counted).count() as u64;
        let max = limits.max_containers_per_user;
        if used >= max && origin == SocketOrigin::Bus {
            return Err(TooManyContainers::OfUser { max, used });
        }
        match self.next {
            NextId::Free(_) => Ok(()),
            NextId::NoneLeft => Err(TooManyContainers::NoIdsLeft),
        }
    }

    /// Adds a container whose socket is not open yet. The caller has checked that there is room.
    pub(crate) fn add(&mut self, new: NewContainer<'_>) -> ContainerId {
        let NextId::Free(id) = self.next else { unreachable!("the caller has checked the room") };
        self.next = match id.number().checked_add(1) {
            Some(number) => NextId::Free(ContainerId::new(number)),
            None => NextId::NoneLeft,
        };
        let container = Container {
            description: ContainerDescription { id, kind: new.kind.into(), name: new.name.into() },
            metadata: new.metadata,
            creator: new.creator,
            creator_facts: CreatorFacts { pid: new.creator_pid, ..CreatorFacts::default() },
            uid: new.uid,
            lifetime: new.lifetime,
            origin: new.origin,
            represented_by: new.represented_by,
            socket: SocketStage::Opening,
            connections: BTreeSet::new(),
            filter: new.rules.map(ContainerFilter::new),
        };
        self.all.insert(id, container);
        id
    }

    /// Records that the daemon listens on the socket of a container.
    pub(crate) fn opened(&mut self, id: ContainerId, creator: Details) {
        if let Some(container) = self.all.get_mut(&id) {
            let facts = &mut container.creator_facts;
            (facts.groups, facts.security_label) = (creator.groups, creator.security_label);
            container.socket = SocketStage::Listening;
        }
    }

    /// Removes a container whose socket could not be opened, and which nobody has seen.
    pub(crate) fn remove_unopened(&mut self, id: ContainerId) {
        self.all.remove(&id);
    }

    /// Records that the socket of a container is being closed. Returns whether it was open.
    pub(crate) fn stop_listening(&mut self, id: ContainerId) -> bool {
        let Some(container) = self.all.get_mut(&id) else { return false };
        let was_open = container.socket == SocketStage::Listening;
        container.socket = SocketStage::Closed;
        was_open
    }

    /// Adds a new connection to a container, if the container accepts it.
    pub(crate) fn admit(
        &mut self,
        id: ContainerId,
        peer: PeerId,
        limits: &BusLimits,
    ) -> Result<ContainerDescription, DisconnectReason> {
        let container = self.all.get_mut(&id).filter(|it| it.socket == SocketStage::Listening);
        let container = container.ok_or(DisconnectReason::ContainerClosed)?;
        if container.origin == SocketOrigin::Bus
            && container.connections.len() as u64 >= limits.max_connections_per_container
        {
            return Err(DisconnectReason::ContainerFull(id));
        }
        container.connections.insert(peer);
        Ok(container.description.clone())
    }

    /// Records that a connection in a container has ended.
    pub(crate) fn disconnect(&mut self, id: ContainerId, peer: PeerId) {
        if let Some(container) = self.all.get_mut(&id) {
            container.connections.remove(&peer);
        }
    }

    /// Removes a container if it has neither a socket nor connections.
    pub(crate) fn remove_if_unused(&mut self, id: ContainerId) -> Remaining {
        match self.all.get(&id) {
            Some(container)
                if container.socket == SocketStage::Closed && container.connections.is_empty() =>
            {
                self.all.remove(&id);
                Remaining::Removed
            }
            _ => Remaining::Exists,
        }
    }

    /// Sets the rules of a container. Returns false if it has no filter.
    pub(crate) fn set_rules(
        &mut self,
        id: ContainerId,
        rules: SandboxRules,
        registry: &Registry,
    ) -> bool {
        let filter = self.all.get_mut(&id).and_then(|container| container.filter.as_mut());
        filter.map(|filter| filter.set_rules(rules, registry)).is_some()
    }

    /// All containers whose sockets were opened, in the order of their creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Container> {
        self.all.values().filter(|container| container.socket != SocketStage::Opening)
    }

    /// True if no container exists.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, id: ContainerId) -> Option<&Container> {
        self.all.get(&id)
    }

    /// The container with an object path, if its socket was opened.
    pub(crate) fn find(&self, path: &str) -> Option<&Container> {
        let container = self.get(ContainerId::from_path(path)?)?;
        (container.socket != SocketStage::Opening).then_some(container)
    }

    /// The containers that a connection has created, and that stop listening when it ends.
    pub(crate) fn bound_to(&self, creator: PeerId) -> impl Iterator<Item = ContainerId> {
        let is_bound = move |container: &Container| {
            container.creator == creator && container.lifetime == ContainerLifetime::Creator
        };
        self.all.iter().filter(move |(_, container)| is_bound(container)).map(|(&id, _)| id)
    }

    /// The connection whose process represents a connection; `None` if it has ended.
    pub(crate) fn representative_of<'r>(
        &self,
        peer: PeerId,
        registry: &'r Registry,
    ) -> Option<&'r Peer> {
        let peer = registry.get(peer)?;
        match peer.container.as_deref().and_then(|container| self.get(container.id)) {
            Some(container) if container.represented_by == Representation::Creator => {
                registry.get(container.creator)
            }
            _ => Some(peer),
        }
    }

    /// Names the container of the sender in all messages to a connection from now on.
    pub(crate) fn label_messages_to(&mut self, peer: PeerId) {
        self.labeled.insert(peer);
    }

    /// True if any connection wants labels.
    #[inline]
    pub(crate) fn labels_messages(&self) -> bool {
        !self.labeled.is_empty()
    }

    /// True if messages to this connection get labels.
    pub(crate) fn labels_messages_to(&self, peer: PeerId) -> bool {
        self.labeled.contains(&peer)
    }

    /// Checks that connections and containers refer to each other.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, registry: &Registry) {
        let mut counted = 0;
        for peer in registry.iter() {
            let (id, Some(description)) = (peer.id, peer.container.as_deref()) else { continue };
            counted += 1;
            let container = self.get(description.id);
            let container = container.unwrap_or_else(|| panic!("the container of {id} is gone"));
            assert_eq!(&container.description, description, "the container of {id}");
            assert!(container.connections.contains(&id), "{id} is not in its container");
        }
        for &id in &self.labeled {
            assert!(registry.get(id).is_some_and(Peer::is_registered), "{id} wants labels");
        }
        let listed: usize = self.all.values().map(|container| container.connections.len()).sum();
        assert_eq!(listed, counted, "connections in containers");
        for (id, container) in &self.all {
            let is_used =
                container.socket != SocketStage::Closed || !container.connections.is_empty();
            assert!(is_used, "{} is not used", id.path());
            container.filter.iter().for_each(|filter| filter.check(registry));
        }
    }
}

impl Container {
    /// The rules for its connections, if it has a filter.
    pub(crate) fn rules(&self) -> Option<&SandboxRules> {
        self.filter.as_ref().map(ContainerFilter::rules)
    }

    /// The connections in the container.
    pub(crate) const fn connections(&self) -> &BTreeSet<PeerId> {
        &self.connections
    }
}
