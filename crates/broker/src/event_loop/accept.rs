//! Accepts and throttles new connections.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bus::{ConnectionCredentials, ContainerId, Input, LimitHit, LimitName, Process};
use sys::poll::PollEvent;
use sys::socket::SocketKind;
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{Mechanism, Mechanisms, SaslServer, ServerConfig};

use serde::{Deserialize, Serialize};

use super::admission_queue::{Admission, AdmissionQueue, PendingPeer, SavedPendingPeer};
use super::entrance::Entrance;
use super::lifetimes::{ContainerLifetimes, SavedLifetimes};
use super::listening::ListenerWatch;
use super::loop_state::LoopState;
use super::switchboard::Switchboard;
use crate::arrivals::{Arrival, Arrivals, Rate, SavedArrivals, ServingTime};
use crate::back_pressure::HoldLimits;
use crate::busconfig::Config;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::listen::{Listener, PassedSocketError, RestoredListener, SavedListener};
use crate::login::PeerLogin;
use crate::os_error::OsError;
use crate::report;
use crate::saved_state::{FdCollector, RestoredFds, StateError};
use crate::throttled_peer::{ThrottleOutcome, ThrottleReason, ThrottledPeer};

/// The listeners, and the limits that decide when a connection is served.
#[derive(Debug)]
pub(super) struct Acceptor {
    pub(super) listeners: ListenerWatch,
    arrivals: Arrivals,
    queue: AdmissionQueue,
    pub(super) lifetimes: ContainerLifetimes,
}

/// The listeners and their limits in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedAcceptor {
    listeners: Vec<SavedListener>,
    containers: Vec<(ContainerId, SavedListener)>,
    /// When descriptors were last short.
    short: Option<Duration>,
    arrivals: SavedArrivals,
    queue: Vec<SavedPendingPeer>,
    lifetimes: SavedLifetimes,
}

/// Listeners whose files still belong to the program that they were saved by.
#[derive(Debug)]
pub(super) struct RestoredAcceptor {
    pub(super) listeners: Vec<RestoredListener>,
    containers: BTreeMap<ContainerId, RestoredListener>,
    short: Option<Duration>,
    arrivals: Arrivals,
    pub(super) queue: AdmissionQueue,
    pub(super) lifetimes: ContainerLifetimes,
}

impl RestoredAcceptor {
    /// Takes the sockets of a saved state.
    pub(super) fn new(saved: SavedAcceptor, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let SavedAcceptor { listeners, containers, short, arrivals, queue, lifetimes } = saved;
        let has_listener = |entrance| match entrance {
            Entrance::Configured(index) => index < listeners.len(),
            Entrance::Container(container) => containers.iter().any(|(id, _)| *id == container),
        };
        let queue = AdmissionQueue::restore(queue, fds, has_listener)?;
        let listeners = listeners.into_iter().map(|listener| RestoredListener::new(listener, fds));
        let listeners = listeners.collect::<Result<_, _>>()?;
        let restore = |(id, listener)| Ok((id, RestoredListener::new(listener, fds)?));
        let containers = containers.into_iter().map(restore).collect::<Result<_, _>>()?;
        let arrivals = Arrivals::restore(arrivals);
        let lifetimes = ContainerLifetimes::restore(lifetimes, fds)?;
        Ok(Self { listeners, containers, short, arrivals, queue, lifetimes })
    }

    /// Continues with the sockets that the service manager has passed to this process. Returns how
    /// many of them have an address at which the bus does not listen.
    pub(super) fn use_sockets(&mut self, passed: Vec<OwnedFd>) -> io::Result<usize> {
        let mut unused = 0;
        for socket in passed {
            let mut listeners = self.listeners.iter_mut();
            let left = listeners
                .try_fold(socket, |socket, listener| listener.replace_socket(socket).ok_or(()));
            unused += usize::from(left.is_ok());
        }
        let mut all = self.listeners.iter_mut().chain(self.containers.values_mut());
        all.try_for_each(RestoredListener::set_nonblocking)?;
        Ok(unused)
    }
}

impl Acceptor {
    /// Saves the listeners and their limits.
    pub(super) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedAcceptor {
        let listeners = self.listeners.listeners().iter();
        SavedAcceptor {
            listeners: listeners.map(|listener| listener.save(fds)).collect(),
            containers: self
                .listeners
                .containers()
                .iter()
                .map(|(&id, listener)| (id, listener.save(fds)))
                .collect(),
            short: self.listeners.short_since(),
            arrivals: self.arrivals.save(),
            queue: self.queue.save(fds),
            lifetimes: self.lifetimes.save(fds),
        }
    }

    /// Takes the ownership of restored listeners and their files.
    pub(super) fn adopt(restored: RestoredAcceptor) -> Self {
        let RestoredAcceptor { listeners, containers, short, arrivals, queue, lifetimes } =
            restored;
        let listeners = listeners.into_iter().map(RestoredListener::adopt).collect();
        let containers = containers.into_iter().map(|(id, listener)| (id, listener.adopt()));
        let containers = containers.collect();
        let listeners = ListenerWatch::restored(listeners, containers, short);
        Self { listeners, arrivals, queue, lifetimes }
    }

    pub(super) fn new(listeners: Vec<Listener>) -> Self {
        Self {
            listeners: ListenerWatch::new(listeners),
            arrivals: Arrivals::default(),
            queue: AdmissionQueue::default(),
            lifetimes: ContainerLifetimes::default(),
        }
    }

    /// Accepts one connection of a listener, unless descriptors are short.
    pub(super) fn accept(
        &mut self,
        switchboard: &mut Switchboard,
        config: &Config,
        entrance: Entrance,
        socket: usize,
    ) -> io::Result<()> {
        if let Some(socket) = self.listeners.accept(&mut switchboard.state, entrance, socket)? {
            self.connected(switchboard, config, entrance, socket);
        }
        Ok(())
    }

    /// Accepts one connection to a container. If its creator has shut the socket down, the container
    /// is stopped: the poller would report the socket for ever.
    pub(super) fn accept_contained(
        &mut self,
        switchboard: &mut Switchboard,
        config: &Config,
        container: ContainerId,
        event: PollEvent,
    ) {
        let entrance = Entrance::Container(container);
        let accepts = !event.is_hangup()
            && !event.is_error()
            && self.accept(switchboard, config, entrance, 0).is_ok();
        if !accepts {
            switchboard.state.fault(Fault::ContainerSocket);
            switchboard.handle(Input::ContainerExpired { container });
            self.close_container(&switchboard.state, container);
        }
    }

    /// Checks that a socket that a program has passed does not belong to a listener.
    pub(super) fn check_new(&self, socket: &OwnedFd) -> Result<(), PassedSocketError> {
        self.listeners.check_new(socket)
    }

    /// Starts accepting connections to a container.
    pub(super) fn add_container(
        &mut self,
        state: &mut LoopState,
        container: ContainerId,
        listener: Listener,
        lifetime: Option<OwnedFd>,
    ) -> io::Result<()> {
        lifetime.map_or(Ok(()), |pipe| self.lifetimes.add(state, container, pipe))?;
        let added = self.listeners.add_container(state, container, listener);
        if added.is_err() {
            self.lifetimes.remove(state, container);
        }
        added
    }

    /// Stops accepting connections to a container.
    pub(super) fn close_container(&mut self, state: &LoopState, container: ContainerId) {
        self.queue.drop_peers_of(container);
        self.listeners.close_container(state, container);
    }

    fn connected(
        &mut self,
        switchboard: &mut Switchboard,
        config: &Config,
        entrance: Entrance,
        socket: OwnedFd,
    ) {
        let state = &mut switchboard.state;
        let Some(listener) = self.listeners.listener(entrance) else { return };
        let Some(credentials) = credentials_of(state, listener.kind, &socket) else { return };
        let served_at = match self.take_turn(state, config, &credentials) {
            ServingTime::Now => None,
            ServingTime::At(time) => Some(time),
            ServingTime::Never => return,
        };
        let peer = PendingPeer { socket, entrance, credentials, served_at };
        if state.bus.is_accepting() || !state.bus.is_crowding(peer.credentials.uid) {
            self.serve(switchboard, config, peer);
        } else {
            self.enqueue(state, peer);
        }
    }

    fn enqueue(&mut self, state: &mut LoopState, peer: PendingPeer) {
        let credentials = peer.credentials.clone();
        let Admission { outcome, ahead } = self.queue.join(peer);
        let used = state.bus.incomplete_of(credentials.uid) + ahead as u64;
        let max = state.bus.configuration().limits.max_incomplete_connections;
        let limit = LimitName::IncompleteConnections;
        let reason = ThrottleReason::Crowding(LimitHit { limit, max, used });
        Self::throttled(state, credentials, outcome, reason);
    }

    /// Logs a delayed or rejected peer, and adds it to the history.
    fn throttled(
        state: &mut LoopState,
        credentials: ConnectionCredentials,
        outcome: ThrottleOutcome,
        reason: ThrottleReason,
    ) {
        let mut peer = ThrottledPeer { credentials, process: Process::default(), outcome, reason };
        if state.reporter.is_news(&peer, state.now)
            && let Some(pid) = peer.credentials.pid
        {
            peer.process = report::process(pid);
        }
        state.log_throttled(peer);
    }

    /// Serves queued peers as far as the limits allow again.
    pub(super) fn serve_queued(&mut self, switchboard: &mut Switchboard, config: &Config) {
        while switchboard.state.bus.is_accepting()
            && let Some(peer) = self.queue.next()
        {
            self.serve(switchboard, config, peer);
        }
    }

    fn serve(&self, switchboard: &mut Switchboard, config: &Config, peer: PendingPeer) {
        let PendingPeer { socket, entrance, credentials, served_at } = peer;
        let Some(listener) = self.listeners.listener(entrance) else { return };
        let login = login(config, listener, entrance, credentials.uid);
        let LoopState { table, bus, now, .. } = &mut switchboard.state;
        let served_at = served_at.filter(|&time| time > *now);
        let peer = table.next_id();
        let limits = HoldLimits::within(&bus.configuration().limits);
        table.insert(Connection::new(peer, socket, login, served_at, limits));
        let container = entrance.container();
        switchboard.handle(Input::Connected { peer, credentials, container });
        match served_at {
            None => switchboard.update_interest(peer),
            Some(_) => switchboard.watch_time(peer),
        }
    }

    /// When a peer that has just connected is served.
    fn take_turn(
        &mut self,
        state: &mut LoopState,
        config: &Config,
        credentials: &ConnectionCredentials,
    ) -> ServingTime {
        let uid = credentials.uid;
        let Some(rate) = Rate::of(&config.document.own, uid) else { return ServingTime::Now };
        let Arrival { turn, ahead } = self.arrivals.arrived(uid, rate, state.now);
        let outcome = match turn {
            ServingTime::Now => return turn,
            ServingTime::At(_) => ThrottleOutcome::Delayed,
            ServingTime::Never => ThrottleOutcome::Rejected,
        };
        let (per_second, max) = (u64::from(rate.per_second), u64::from(rate.burst));
        let burst = LimitHit { limit: LimitName::ConnectionBurst, max, used: ahead };
        let reason = ThrottleReason::TooOften { per_second, burst };
        Self::throttled(state, credentials.clone(), outcome, reason);
        turn
    }
}

/// The process at the other end, if the kernel reports it; `None` if it should and does not.
fn credentials_of(
    state: &mut LoopState,
    kind: SocketKind,
    socket: &OwnedFd,
) -> Option<ConnectionCredentials> {
    if kind != SocketKind::Unix {
        return Some(ConnectionCredentials::default());
    }
    match sys::credentials::peer_ids(socket) {
        Ok(known) => Some(ConnectionCredentials { pid: known.pid, uid: Some(known.uid) }),
        Err(error) => {
            let nobody = ConnectionCredentials::default();
            let reason = ThrottleReason::UnknownUser(OsError::from(error));
            Acceptor::throttled(state, nobody, ThrottleOutcome::Rejected, reason);
            None
        }
    }
}

fn login(config: &Config, listener: &Listener, entrance: Entrance, uid: Option<u32>) -> PeerLogin {
    let server = SaslServer::new(ServerConfig {
        guid: listener.guid,
        mechanisms: match entrance {
            Entrance::Configured(_) => config.mechanisms(),
            Entrance::Container(_) => Mechanisms::default().with(Mechanism::External),
        },
        peer: PeerIdentity { uid },
        fds: match listener.kind {
            SocketKind::Unix => FdSupport::Available,
            SocketKind::Tcp | SocketKind::Other => FdSupport::Unavailable,
        },
        cookie_context: Default::default(),
    });
    PeerLogin::new(listener.entry, server)
}
