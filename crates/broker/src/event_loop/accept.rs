//! New connections.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Asker, Credentials, Details, Input, PeerId, PidFd};
use sys::poll::Interest;
use sys::socket::{Accepted, SocketKind};
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{Server, ServerConfig};

use super::{EventLoop, Listening, Source};
use crate::connection::Connection;
use crate::log::Severity;
use crate::login::Login;

impl EventLoop {
    /// Takes one connection, if there is room for more. If others wait, the next turn says so, and
    /// one that comes alone costs no look for a second.
    pub(super) fn accept(&mut self, index: usize, socket: usize) -> io::Result<()> {
        if !self.bus.is_accepting() {
            return Ok(());
        }
        match sys::socket::accept(&self.listeners[index].sockets[socket])? {
            Accepted::Connection(socket) => self.connected(index, socket),
            Accepted::NoneWaiting => Ok(()),
            Accepted::OutOfRoom(error) => {
                let line = format!("Cannot accept a connection: {error}");
                self.log.write(Severity::Warning, line);
                self.pause_listening()
            }
        }
    }

    fn connected(&mut self, index: usize, socket: OwnedFd) -> io::Result<()> {
        let listener = &self.listeners[index];
        let known = match listener.kind {
            SocketKind::Unix => match sys::credentials::peer_ids(&socket) {
                Ok(known) => Some(known),
                Err(error) => {
                    let line = format!("Cannot tell who has connected, so refuse it: {error}");
                    self.log.write(Severity::Warning, line);
                    return Ok(());
                }
            },
            SocketKind::Tcp | SocketKind::Other => None,
        };
        let peer = self.table.next_id();
        let server = Server::new(ServerConfig {
            guid: listener.guid,
            mechanisms: self.config.mechanisms(),
            peer: PeerIdentity { uid: known.as_ref().map(|known| known.uid) },
            fds: match listener.kind {
                SocketKind::Unix => FdSupport::Available,
                SocketKind::Tcp | SocketKind::Other => FdSupport::Unavailable,
            },
            cookie_context: Default::default(),
        });
        let login = Login::new(listener.entry, server);
        self.poller.add(&socket, Source::Peer(peer).token(), Interest::Read)?;
        self.table.insert(Connection::new(peer, socket, login));
        let credentials = known.map(|known| Credentials { pid: known.pid, uid: Some(known.uid) });
        self.handle(Input::Connected { peer, credentials: credentials.unwrap_or_default() });
        Ok(())
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

    /// Watches the listeners, or not, as the bus has room for more connections.
    pub(super) fn update_listening(&mut self) -> io::Result<()> {
        match (self.listening, self.bus.is_accepting()) {
            (Listening::Paused, true) => {
                for (index, listener) in self.listeners.iter().enumerate() {
                    for (socket, listening) in listener.sockets.iter().enumerate() {
                        let token = Source::Listener { index, socket }.token();
                        self.poller.add(listening, token, Interest::Read)?;
                    }
                }
                self.listening = Listening::Watched;
                Ok(())
            }
            (Listening::Watched, false) => self.pause_listening(),
            _ => Ok(()),
        }
    }

    fn pause_listening(&mut self) -> io::Result<()> {
        for socket in self.listeners.iter().flat_map(|listener| &listener.sockets) {
            self.poller.remove(socket)?;
        }
        self.listening = Listening::Paused;
        Ok(())
    }
}
