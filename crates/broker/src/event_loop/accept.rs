//! New connections.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Asker, Credentials, Details, Input, PeerId, PidFd};
use sys::socket::{Accepted, SocketKind};
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{Server, ServerConfig};

use super::EventLoop;
use super::line::{Joined, Newcomer};
use super::listening::Listening;
use crate::arrivals::{News, Rate, Turn};
use crate::connection::{Connection, Room};
use crate::log::Severity;
use crate::login::Login;
use crate::os_error::OsError;

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
            Accepted::OutOfRoom(error) => self.out_of_room(&OsError::from(error)),
        }
    }

    fn connected(&mut self, listener: usize, socket: OwnedFd) {
        let Some(credentials) = self.who_connects(listener, &socket) else { return };
        let served_at = match self.take_turn(credentials.uid) {
            Turn::Now => None,
            Turn::At(time) => Some(time),
            Turn::Never => return,
        };
        let newcomer = Newcomer { socket, listener, credentials, served_at };
        if self.bus.is_accepting() || !self.bus.is_crowding(newcomer.credentials.uid) {
            self.serve(newcomer);
        } else {
            self.join_line(newcomer);
        }
    }

    fn join_line(&mut self, newcomer: Newcomer) {
        let uid = newcomer.credentials.uid;
        let joined = self.line.join(newcomer);
        if self.line.is_news(self.now) {
            let max = self.bus.configuration().limits.max_incomplete_connections;
            self.log.write(Severity::Warning, Crowd { uid, max, joined });
        }
    }

    /// Serves those who had to wait, as far as there are places again.
    pub(super) fn serve_line(&mut self) {
        while self.bus.is_accepting()
            && let Some(newcomer) = self.line.next()
        {
            self.serve(newcomer);
        }
    }

    fn serve(&mut self, newcomer: Newcomer) {
        let Newcomer { socket, listener, credentials, served_at } = newcomer;
        let served_at = served_at.filter(|&time| time > self.now);
        let peer = self.table.next_id();
        let login = self.login(listener, credentials.uid);
        let room = Room::within(&self.bus.configuration().limits);
        let connection = Connection::new(peer, socket, login, room);
        self.table.insert(Connection { served_at, ..connection });
        self.handle(Input::Connected { peer, credentials });
        match served_at {
            None => self.update_interest(peer),
            Some(_) => self.watch_time(peer),
        }
    }

    /// Who is at the other end, as far as the kernel knows; `None` when it should and does not.
    fn who_connects(&self, index: usize, socket: &OwnedFd) -> Option<Credentials> {
        if self.listeners[index].kind != SocketKind::Unix {
            return Some(Credentials::default());
        }
        match sys::credentials::peer_ids(socket) {
            Ok(known) => Some(Credentials { pid: known.pid, uid: Some(known.uid) }),
            Err(error) => {
                let line = format!("Cannot tell who has connected, so refuse it: {error}");
                self.log.write(Severity::Warning, line);
                None
            }
        }
    }

    /// When somebody who has just connected is served.
    fn take_turn(&mut self, uid: Option<u32>) -> Turn {
        let Some(rate) = Rate::of(&self.config.document.own, uid) else { return Turn::Now };
        let (turn, news) = self.arrivals.arrived(uid, rate, self.now);
        if news == News::First {
            self.log.write(Severity::Warning, TooOften { uid, rate, turn });
        }
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
    pub(super) fn identify(&mut self, peer: PeerId, asker: Asker) {
        let Some(connection) = self.table.get_mut(peer) else { return };
        let mut details = Details::default();
        // Of who comes over a network it knows nothing.
        if let Ok(known) = sys::credentials::peer_credentials(&connection.socket) {
            details.groups = known.groups.map(Into::into);
            details.security_label = known.security_label.map(Into::into);
            connection.pidfd = known.pidfd.map(|pidfd| Rc::from([pidfd]));
            if connection.pidfd.is_some() {
                details.pidfd = PidFd::Held;
            }
        }
        self.handle(Input::Identified { peer, details, asker });
        // Whoever asked has it in the queue.
        if let Some(connection) = self.table.get_mut(peer) {
            connection.pidfd = None;
        }
    }
}

/// What the log says of a user who connects too often.
struct TooOften {
    uid: Option<u32>,
    rate: Rate,
    turn: Turn,
}

impl fmt::Display for TooOften {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rate { per_second, burst } = self.rate;
        match self.uid {
            Some(uid) => write!(f, "User {uid} connects")?,
            None => f.write_str("Those who come over a network connect")?,
        }
        f.write_str(" too often: new connections are ")?;
        f.write_str(match self.turn {
            Turn::Never => "refused",
            Turn::Now | Turn::At(_) => "served later",
        })?;
        write!(
            f,
            " (max_connections_per_second_per_user={per_second}, \
             max_connection_burst_per_user={burst})"
        )
    }
}

/// What the log says of a user whose connections keep the places of those that have not said Hello.
struct Crowd {
    uid: Option<u32>,
    max: u64,
    joined: Joined,
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.uid {
            Some(uid) => write!(f, "User {uid} has")?,
            None => f.write_str("Those who come over a network have")?,
        }
        f.write_str(" too many connections that have not said Hello: the next ones ")?;
        f.write_str(match self.joined {
            Joined::Waits => "wait",
            Joined::Refused => "are closed",
        })?;
        write!(f, " (max_incomplete_connections={})", self.max)
    }
}
