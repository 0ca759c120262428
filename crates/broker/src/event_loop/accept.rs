//! Accepts and throttles new connections.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bus::{ConnectionCredentials, Input, LimitHit, LimitName, Process};
use sys::socket::SocketKind;
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{SaslServer, ServerConfig};

use serde::{Deserialize, Serialize};

use super::admission_queue::{Admission, AdmissionQueue, PendingPeer, SavedPendingPeer};
use super::listening::ListenerWatch;
use super::loop_state::LoopState;
use super::switchboard::Switchboard;
use crate::arrivals::{Arrival, Arrivals, Rate, SavedArrivals, ServingTime};
use crate::back_pressure::HoldLimits;
use crate::busconfig::Config;
use crate::connection::Connection;
use crate::listen::{Listener, RestoredListener, SavedListener};
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
}

/// The listeners and their limits in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedAcceptor {
    listeners: Vec<SavedListener>,
    /// When descriptors were last short.
    short: Option<Duration>,
    arrivals: SavedArrivals,
    queue: Vec<SavedPendingPeer>,
}

/// Listeners whose files still belong to the program that they were saved by.
#[derive(Debug)]
pub(super) struct RestoredAcceptor {
    pub(super) listeners: Vec<RestoredListener>,
    short: Option<Duration>,
    arrivals: Arrivals,
    pub(super) queue: AdmissionQueue,
}

impl RestoredAcceptor {
    /// Takes the sockets of a saved state.
    pub(super) fn new(saved: SavedAcceptor, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let SavedAcceptor { listeners, short, arrivals, queue } = saved;
        let queue = AdmissionQueue::restore(queue, fds, listeners.len())?;
        let listeners = listeners.into_iter().map(|listener| RestoredListener::new(listener, fds));
        let listeners = listeners.collect::<Result<_, _>>()?;
        Ok(Self { listeners, short, arrivals: Arrivals::restore(arrivals), queue })
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
        self.listeners.iter_mut().try_for_each(RestoredListener::set_nonblocking)?;
        Ok(unused)
    }
}

impl Acceptor {
    /// Saves the listeners and their limits.
    pub(super) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedAcceptor {
        let listeners = self.listeners.listeners().iter();
        SavedAcceptor {
            listeners: listeners.map(|listener| listener.save(fds)).collect(),
            short: self.listeners.short_since(),
            arrivals: self.arrivals.save(),
            queue: self.queue.save(fds),
        }
    }

    /// Takes the ownership of restored listeners and their files.
    pub(super) fn adopt(restored: RestoredAcceptor) -> Self {
        let RestoredAcceptor { listeners, short, arrivals, queue } = restored;
        let listeners = listeners.into_iter().map(RestoredListener::adopt).collect();
        Self { listeners: ListenerWatch::restored(listeners, short), arrivals, queue }
    }

    pub(super) fn new(listeners: Vec<Listener>) -> Self {
        Self {
            listeners: ListenerWatch::new(listeners),
            arrivals: Arrivals::default(),
            queue: AdmissionQueue::default(),
        }
    }

    /// Accepts one connection of a listener, unless descriptors are short.
    pub(super) fn accept(
        &mut self,
        switchboard: &mut Switchboard,
        config: &Config,
        listener: usize,
        socket: usize,
    ) -> io::Result<()> {
        if let Some(socket) = self.listeners.accept(&mut switchboard.state, listener, socket)? {
            self.connected(switchboard, config, listener, socket);
        }
        Ok(())
    }

    fn connected(
        &mut self,
        switchboard: &mut Switchboard,
        config: &Config,
        listener: usize,
        socket: OwnedFd,
    ) {
        let state = &mut switchboard.state;
        let Some(credentials) = self.credentials_of(state, listener, &socket) else { return };
        let served_at = match self.take_turn(state, config, &credentials) {
            ServingTime::Now => None,
            ServingTime::At(time) => Some(time),
            ServingTime::Never => return,
        };
        let peer = PendingPeer { socket, listener, credentials, served_at };
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
        let PendingPeer { socket, listener, credentials, served_at } = peer;
        let LoopState { table, bus, now, .. } = &mut switchboard.state;
        let served_at = served_at.filter(|&time| time > *now);
        let peer = table.next_id();
        let login = self.login(config, listener, credentials.uid);
        let limits = HoldLimits::within(&bus.configuration().limits);
        table.insert(Connection::new(peer, socket, login, served_at, limits));
        switchboard.handle(Input::Connected { peer, credentials });
        match served_at {
            None => switchboard.update_interest(peer),
            Some(_) => switchboard.watch_time(peer),
        }
    }

    /// The process at the other end, if the kernel reports it; `None` if it should and does not.
    fn credentials_of(
        &self,
        state: &mut LoopState,
        index: usize,
        socket: &OwnedFd,
    ) -> Option<ConnectionCredentials> {
        if self.listeners.listener(index).kind != SocketKind::Unix {
            return Some(ConnectionCredentials::default());
        }
        match sys::credentials::peer_ids(socket) {
            Ok(known) => Some(ConnectionCredentials { pid: known.pid, uid: Some(known.uid) }),
            Err(error) => {
                let reason = ThrottleReason::UnknownUser(OsError::from(error));
                Self::throttled(
                    state,
                    ConnectionCredentials::default(),
                    ThrottleOutcome::Rejected,
                    reason,
                );
                None
            }
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

    fn login(&self, config: &Config, index: usize, uid: Option<u32>) -> PeerLogin {
        let listener = self.listeners.listener(index);
        let server = SaslServer::new(ServerConfig {
            guid: listener.guid,
            mechanisms: config.mechanisms(),
            peer: PeerIdentity { uid },
            fds: match listener.kind {
                SocketKind::Unix => FdSupport::Available,
                SocketKind::Tcp | SocketKind::Other => FdSupport::Unavailable,
            },
            cookie_context: Default::default(),
        });
        PeerLogin::new(listener.entry, server)
    }
}
