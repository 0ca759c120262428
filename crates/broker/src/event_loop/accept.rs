//! New connections.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{
    CallId, Credentials, Details, ForeignError, Incident, IncidentReason, Input, LimitHit,
    LimitName, PeerId, PidFd, Process,
};
use sys::socket::{Accepted, SocketKind};
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{Server, ServerConfig};

use super::EventLoop;
use super::admission_queue::{Admission, PendingPeer};
use super::listening::Listening;
use crate::arrivals::{Arrival, Rate, Turn};
use crate::back_pressure::Limits;
use crate::connection::Connection;
use crate::fault::DescriptorShortage;
use crate::login::Login;
use crate::os_error::OsError;
use crate::report;
use crate::throttled_peer::{ThrottleOutcome, ThrottleReason, ThrottledPeer};

impl EventLoop {
    /// Takes one connection, if there is room for more. If others wait, the next turn says so, and
    /// one that comes alone costs no look for a second.
    pub(super) fn accept(&mut self, index: usize, socket: usize) -> io::Result<()> {
        if self.listening != Listening::Watched {
            return Ok(());
        }
        match sys::socket::accept(&self.listeners[index].sockets[socket])? {
            Accepted::Connection(socket) => {
                self.note_accepted(&socket)?;
                self.connected(index, socket);
                Ok(())
            }
            Accepted::NoneWaiting => Ok(()),
            Accepted::OutOfRoom(error) => {
                self.out_of_room(DescriptorShortage::System(OsError::from(error)))
            }
        }
    }

    fn connected(&mut self, listener: usize, socket: OwnedFd) {
        let Some(credentials) = self.who_connects(listener, &socket) else { return };
        let served_at = match self.take_turn(&credentials) {
            Turn::Now => None,
            Turn::At(time) => Some(time),
            Turn::Never => return,
        };
        let peer = PendingPeer { socket, listener, credentials, served_at };
        if self.bus.is_accepting() || !self.bus.is_crowding(peer.credentials.uid) {
            self.serve(peer);
        } else {
            self.enqueue(peer);
        }
    }

    fn enqueue(&mut self, peer: PendingPeer) {
        let credentials = peer.credentials.clone();
        let Admission { outcome, ahead } = self.admission_queue.join(peer);
        let used = self.bus.incomplete_of(credentials.uid) + ahead as u64;
        let max = self.bus.configuration().limits.max_incomplete_connections;
        let limit = LimitName::IncompleteConnections;
        self.throttled(
            credentials,
            outcome,
            ThrottleReason::Crowding(LimitHit { limit, max, used }),
        );
    }

    /// Logs that a peer is not served at once, and adds it to the history.
    fn throttled(
        &mut self,
        credentials: Credentials,
        outcome: ThrottleOutcome,
        reason: ThrottleReason,
    ) {
        let mut peer = ThrottledPeer { credentials, process: Process::default(), outcome, reason };
        if self.reporter.is_news(&peer, self.now)
            && let Some(pid) = peer.credentials.pid
        {
            peer.process = report::process(pid);
        }
        self.reporter.throttled(&self.log, &self.bus, &peer, self.now);
        self.watch_log();
        let (kind, cause) = (outcome.incident_kind(), reason.cause());
        let (who, hit) = (peer.snapshot(), reason.limit_hit());
        let reason = IncidentReason::Foreign(ForeignError::new(peer));
        let incident = Incident::new(kind, cause, who, reason, hit, self.time());
        self.bus.note_incident(incident);
    }

    /// Serves the peers that had to wait, as far as there are places again.
    pub(super) fn serve_queued(&mut self) {
        while self.bus.is_accepting()
            && let Some(peer) = self.admission_queue.next()
        {
            self.serve(peer);
        }
    }

    fn serve(&mut self, peer: PendingPeer) {
        let PendingPeer { socket, listener, credentials, served_at } = peer;
        let served_at = served_at.filter(|&time| time > self.now);
        let peer = self.table.next_id();
        let login = self.login(listener, credentials.uid);
        let limits = Limits::within(&self.bus.configuration().limits);
        self.table.insert(Connection::new(peer, socket, login, served_at, limits));
        self.handle(Input::Connected { peer, credentials });
        match served_at {
            None => self.update_interest(peer),
            Some(_) => self.watch_time(peer),
        }
    }

    /// Who is at the other end, as far as the kernel knows; `None` when it should and does not.
    fn who_connects(&mut self, index: usize, socket: &OwnedFd) -> Option<Credentials> {
        if self.listeners[index].kind != SocketKind::Unix {
            return Some(Credentials::default());
        }
        match sys::credentials::peer_ids(socket) {
            Ok(known) => Some(Credentials { pid: known.pid, uid: Some(known.uid) }),
            Err(error) => {
                let reason = ThrottleReason::UnknownUser(OsError::from(error));
                self.throttled(Credentials::default(), ThrottleOutcome::Rejected, reason);
                None
            }
        }
    }

    /// When somebody who has just connected is served.
    fn take_turn(&mut self, credentials: &Credentials) -> Turn {
        let uid = credentials.uid;
        let Some(rate) = Rate::of(&self.config.document.own, uid) else { return Turn::Now };
        let Arrival { turn, ahead } = self.arrivals.arrived(uid, rate, self.now);
        let outcome = match turn {
            Turn::Now => return turn,
            Turn::At(_) => ThrottleOutcome::Delayed,
            Turn::Never => ThrottleOutcome::Rejected,
        };
        let (per_second, max) = (u64::from(rate.per_second), u64::from(rate.burst));
        let burst = LimitHit { limit: LimitName::ConnectionBurst, max, used: ahead };
        let reason = ThrottleReason::TooOften { per_second, burst };
        self.throttled(credentials.clone(), outcome, reason);
        turn
    }

    fn login(&self, index: usize, uid: Option<u32>) -> Login {
        let listener = &self.listeners[index];
        let server = Server::new(ServerConfig {
            guid: listener.guid,
            mechanisms: self.config.mechanisms(),
            peer: PeerIdentity { uid },
            fds: match listener.kind {
                SocketKind::Unix => FdSupport::Available,
                SocketKind::Tcp | SocketKind::Other => FdSupport::Unavailable,
            },
            cookie_context: Default::default(),
        });
        Login::new(listener.entry, server)
    }

    /// Asks the kernel for all about the process behind a connection. What it cannot tell, or not
    /// any longer, is left out.
    pub(super) fn read_details(&mut self, peer: PeerId, call: CallId) {
        let Some(connection) = self.table.get(peer) else { return };
        let mut details = Details::default();
        let mut fds = None;
        // The kernel knows nothing of a peer that connects over a network.
        if let Ok(known) = sys::credentials::peer_credentials(&connection.socket) {
            details.groups = known.groups.map(Into::into);
            details.security_label = known.security_label.map(Into::into);
            fds = known.pidfd.map(|pidfd| Rc::from([pidfd.into()]));
            if fds.is_some() {
                details.pidfd = PidFd::Held;
            }
        }
        self.answer(Input::DetailsRead { peer, details, call }, fds);
    }
}
